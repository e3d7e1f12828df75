/** A permit to take a log over grows old on the process's own clock, frozen or not. */
import { expect, test } from "vitest";
import { region } from "../../../../lib/protocol/ids.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import { TakeoverPermit } from "../../../../lib/protocol/log/opening/takeover-permit.ts";
import { TestClock } from "../../../scenarios/test-clock.ts";

const east = region("east");

test("F3: it names the owner until it is dropped, and nobody's lack of one takes it away", () => {
  const permit = new TakeoverPermit(new TestClock());
  expect(permit.from).toBeUndefined();
  permit.give(east);
  permit.give(undefined);
  expect(permit.from).toBe(east);
  permit.drop();
  expect(permit.from).toBeUndefined();
});

test("F3: a process that froze with it may not take over when it thaws", () => {
  const clock = new TestClock();
  const permit = new TakeoverPermit(clock);
  permit.give(east);
  clock.jump(limits.appendDeadlineMs - 1);
  expect(permit.from).toBe(east);
  clock.jump(1);
  expect(permit.from).toBeUndefined();
  permit.give(east);
  expect(permit.from).toBe(east);
});

test("F3: what is given in the middle of an attempt is for the next one", () => {
  const permit = new TakeoverPermit(new TestClock());
  permit.give(east);
  permit.use();
  permit.give(east);
  permit.drop();
  expect(permit.from).toBe(east);
  permit.drop();
  expect(permit.from).toBeUndefined();
});
