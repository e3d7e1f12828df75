/** Too late and too old, by both clocks (DL1 to DL3). */
import { beforeEach, describe, expect, test } from "vitest";
import { Age, Deadline } from "../../lib/protocol/deadline.ts";
import { TestClock } from "../scenarios/test-clock.ts";

let clock: TestClock;

beforeEach(() => {
  clock = new TestClock();
});

/** What makes a span of a second over, each by what it does to one or both clocks within 999 ms of work. */
const endings: readonly [string, () => void][] = [
  ["a second passed", () => clock.jump(1_000)],
  ["the host was suspended, and its monotonic clock stood still", () => clock.suspend(1_000)],
  ["the wall clock jumped ahead", () => clock.setWall(+1_000)],
  ["the wall clock went back", () => clock.setWall(-1)],
  ["the wall clock went back while a second passed", () => [clock.jump(1_000), clock.setWall(-500)]],
  [
    "the host was suspended, and the wall clock went back by more",
    () => [clock.suspend(5_000), clock.setWall(-5_001)],
  ],
];

describe("an age", () => {
  test("is within a span until that has passed", () => {
    const age = new Age(clock);
    clock.jump(999);
    expect([age.isWithin(1_000), age.isOlder(1_000), age.leftMs(1_000)]).toEqual([true, false, 1]);
    clock.jump(1);
    expect([age.isWithin(1_000), age.isOlder(1_000), age.leftMs(1_000)]).toEqual([false, true, 0]);
    expect(age.isWithin(1_001)).toBe(true);
  });

  test.each(endings)("DL1, DL2: is too old after %s", (_, end) => {
    const age = new Age(clock);
    end();
    expect(age.isWithin(1_000)).toBe(false);
    expect(age.isOlder(1_000)).toBe(true);
    expect(age.leftMs(1_000)).toBe(0);
  });

  test("leaves what the clock leaves that went further", () => {
    const age = new Age(clock);
    clock.jump(200);
    clock.setWall(+300);
    expect(age.leftMs(1_000)).toBe(500);
  });

  test("is after another by the clock that never goes back", () => {
    const first = new Age(clock);
    const same = new Age(clock);
    clock.jump(1);
    clock.setWall(-1_000);
    const later = new Age(clock);
    expect([later.isAfter(first), first.isAfter(later), first.isAfter(same)]).toEqual([true, false, false]);
  });
});

describe("a deadline", () => {
  const late = (ms: number) => new Error(`late after ${ms}`);
  const deadline = () => new Deadline(clock, 1_000, late);
  const never = () => new Promise<never>(() => {});

  test("is over when its span is, and leaves no less than 1 ms to wait", () => {
    const one = deadline();
    expect(one.leftMs).toBe(1_000);
    clock.jump(999);
    expect([one.isOver, one.leftMs]).toEqual([false, 1]);
    expect(() => one.check()).not.toThrow();
    clock.jump(1);
    expect([one.isOver, one.leftMs]).toEqual([true, 1]);
    expect(() => one.check()).toThrow("late after 1000");
  });

  test.each(endings)("DL1, DL2: is over after %s", async (_, end) => {
    const one = deadline();
    const answer = one.ask(async () => {
      end();
      return "answer";
    });
    await expect(answer).rejects.toThrow("late after 1000");
    expect(one.isOver).toBe(true);
    expect(() => one.check()).toThrow("late after 1000");
    expect(clock.pendingTimers).toBe(0);
  });

  test("passes on what a question comes to in time, and leaves no timer", async () => {
    expect(await deadline().ask(async () => "answer")).toBe("answer");
    await expect(deadline().ask(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const throws = () => {
      throw new Error("at once");
    };
    await expect(deadline().ask(throws)).rejects.toThrow("at once");
    expect(clock.pendingTimers).toBe(0);
  });

  test("ends a question that gets no answer", async () => {
    await expect(clock.run(deadline().ask(never))).rejects.toThrow("late after 1000");
  });

  test("asks nothing once it is over", async () => {
    const one = deadline();
    clock.suspend(1_000);
    let asked = 0;
    await expect(one.ask(async () => asked++)).rejects.toThrow("late");
    expect(asked).toBe(0);
  });

  test("a nearer one within it is over first, and says so", async () => {
    const outer = deadline();
    clock.jump(200);
    const inner = outer.limit(300, (ms) => new Error(`step over after ${ms}`));
    expect(inner.leftMs).toBe(300);
    await expect(clock.run(inner.ask(never))).rejects.toThrow("step over after 300");
    expect([inner.isOver, outer.isOver, outer.leftMs]).toEqual([true, false, 500]);
  });

  test("one within it never lasts longer", async () => {
    const outer = deadline();
    clock.jump(200);
    const inner = outer.limit(5_000, () => new Error("step over"));
    expect(inner.leftMs).toBe(800);
    await expect(clock.run(inner.ask(never))).rejects.toThrow("late after 1000");
    expect(inner.isOver).toBe(true);
  });
});
