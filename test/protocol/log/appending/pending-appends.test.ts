/** Appends that wait, and what they allow: a takeover is for the caller who asked for it, and in time. */
import { expect, test } from "vitest";
import { region } from "../../../../lib/protocol/ids.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import {
  AppendQueue,
  appendDeadline,
  PendingAppend,
} from "../../../../lib/protocol/log/appending/pending-appends.ts";
import { TestClock } from "../../../scenarios/test-clock.ts";

const east = region("east");
const record = { headers: [], body: new Uint8Array(1) };

class Waiting {
  readonly clock = new TestClock();
  readonly queue = new AppendQueue("orders");

  add(takeFrom?: typeof east, timeoutMs?: number): PendingAppend {
    const deadline = appendDeadline(this.clock, "orders", timeoutMs);
    const permit = takeFrom === undefined ? undefined : { from: takeFrom, deadline };
    const append = new PendingAppend(this.clock, "orders", deadline, { records: [record], bytes: 1, permit });
    this.queue.push(append);
    return append;
  }
}

test("APR3: the owner may be taken over from while the permitted append waits, no longer", () => {
  const w = new Waiting();
  w.add();
  expect(w.queue.permit).toBeUndefined();
  const one = w.add(east);
  expect(w.queue.permit?.from).toBe(east);
  one.fail(new Error("refused"));
  expect(w.queue.permit).toBeUndefined();
});

test("APR3: one append's answer takes no other append's permit away", () => {
  const w = new Waiting();
  w.add(east).fail(new Error("refused"));
  w.add(east);
  w.queue.dropAnswered();
  expect(w.queue.permit?.from).toBe(east);
});

test("APR3, PA2: a process that froze takes nothing over when it thaws, and sends nothing of it", async () => {
  const w = new Waiting();
  const append = w.add(east);
  w.clock.jump(limits.appendDeadlineMs - 1);
  expect(w.queue.permit?.from).toBe(east);
  w.clock.jump(1);
  expect(w.queue.permit).toBeUndefined();
  expect(w.queue.takeGroup()).toEqual([]);
  expect(await append.outcome).toMatchObject({
    kind: "failed",
    error: { code: "not_ready", sideEffects: "none" },
  });
});

test("PA2: a caller's shorter time counts for its append alone", () => {
  const w = new Waiting();
  w.add(east, 100);
  const later = w.add(undefined, 5_000);
  w.clock.jump(100);
  expect(w.queue.permit).toBeUndefined();
  expect(w.queue.takeGroup()).toEqual([later]);
});
