/** What a call of a bookie says of it: failures of any kind count towards quarantine, an answer ends it. */
import { expect, test } from "vitest";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { ledgerId } from "../../../lib/protocol/ids.ts";
import { knownBookies } from "../../../lib/protocol/ledger/change-ensemble.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { callBookie } from "../../../lib/protocol/ledger/ledger-ports.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { quarantineRules } from "../../../lib/protocol/reads/bookie-health.ts";
import { CallAbort } from "../../../lib/protocol/waiting.ts";
import { World } from "../../scenarios/world.ts";

/** Ways in which a call gets no answer. */
const failures: Readonly<Record<string, () => Promise<string>>> = {
  "a refused connection": () => Promise.reject(unavailable("connection refused")),
  silence: () => new Promise(() => {}),
  "a defect on the way": () => {
    throw new TypeError("no such host");
  },
};

async function world() {
  const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
  const ports = w.ports("W");
  const [bookie] = w.addresses;
  if (bookie === undefined) throw new Error("no bookie");
  const ask = (call: () => Promise<string>) =>
    w.run(callBookie(ports, { ledgerId: ledgerId(1), bookie, what: "a question" }, call));
  const isAvoided = () => ports.health.of(bookie.id).isQuarantined;
  /** One that failed a moment ago is avoided, too. */
  const isDoubted = () => knownBookies(ports).quarantined?.has(bookie.id) === true;
  return { w, ports, ask, isAvoided, isDoubted };
}

test.each(Object.entries(failures))("%s, three times in a row, is quarantine", async (_, fail) => {
  const { w, ports, ask, isAvoided } = await world();
  for (let time = 1; time <= quarantineRules.failuresInRow; time++) {
    expect(isAvoided()).toBe(false);
    expect(await ask(fail)).toMatchObject({ kind: "unknown" });
  }
  expect(isAvoided()).toBe(true);
  const { item } = await w.run(createLedger(ports, { replication: w.replication, digest: w.digest }));
  expect(item.fragments[0]?.ensemble.map(({ id }) => id)).toEqual(["B1", "B2", "B3"]);
});

test("an answer between them, and one afterwards, ends it", async () => {
  const { ask, isAvoided } = await world();
  const refuse = () => Promise.reject(unavailable("connection refused"));
  for (const call of [refuse, refuse, () => Promise.resolve("fenced"), refuse, refuse]) await ask(call);
  expect(isAvoided()).toBe(false);
  await ask(refuse);
  expect(isAvoided()).toBe(true);
  expect(await ask(() => Promise.resolve("has nothing there"))).toBe("has nothing there");
  expect(isAvoided()).toBe(false);
});

test("one failure is doubt for ten seconds, unless an answer ends it before", async () => {
  const { w, ask, isAvoided, isDoubted } = await world();
  const refuse = () => Promise.reject(unavailable("connection refused"));
  await ask(refuse);
  expect([isAvoided(), isDoubted()]).toEqual([false, true]);
  await ask(() => Promise.resolve("here"));
  expect(isDoubted()).toBe(false);
  await ask(refuse);
  await w.clock.advance(limits.suspectMs);
  expect([isAvoided(), isDoubted()]).toEqual([false, false]);
});

test("a call that was cancelled is held against nobody", async () => {
  const { w, ports, isDoubted } = await world();
  const [bookie] = w.addresses;
  if (bookie === undefined) throw new Error("no bookie");
  const signal = new CallAbort();
  const call = () => new Promise<string>(() => {});
  const asked = callBookie(ports, { ledgerId: ledgerId(1), bookie, what: "a question", signal }, call);
  signal.abort();
  expect(await asked).toMatchObject({ kind: "unknown" });
  expect([isDoubted(), w.clock.pendingTimers]).toEqual([false, 0]);
  expect(w.trace.filter(({ event }) => event === "bookie-failed")).toEqual([]);
});
