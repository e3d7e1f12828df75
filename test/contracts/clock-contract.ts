/** What every clock must do. Real ones are let run for a few ms, others are moved by hand. */
import { describe, expect, it } from "vitest";
import type { Clock } from "../../lib/protocol/deadline.ts";
import { pause, withTimeout } from "../../lib/protocol/waiting.ts";

export interface ClockUnderTest {
  readonly clock: Clock;
  /** Lets at least so much time pass. */
  readonly advance: (durationMs: number) => Promise<void>;
}

export interface ClockCase {
  readonly title: string;
  readonly run: (under: ClockUnderTest) => Promise<void>;
}

export const clockCases: readonly ClockCase[] = [
  {
    title: "wall time is a time of this century, in ms",
    run: async ({ clock }) => {
      expect(clock.nowMs()).toBeGreaterThan(Date.UTC(2001, 0));
      expect(clock.nowMs()).toBeLessThan(Date.UTC(2100, 0));
    },
  },
  {
    title: "monotonic time never falls, and grows by what passes",
    run: async ({ clock, advance }) => {
      const startMs = clock.monotonicMs();
      let beforeMs = startMs;
      for (let reading = 0; reading < 100; reading++) {
        const nowMs = clock.monotonicMs();
        expect(nowMs).toBeGreaterThanOrEqual(beforeMs);
        beforeMs = nowMs;
      }
      await advance(5);
      expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(5);
    },
  },
  {
    title: "a timer fires once, never before its delay is over",
    run: async ({ clock, advance }) => {
      const startMs = clock.monotonicMs();
      const firedAfterMs: number[] = [];
      for (const delayMs of [1, 3, 7.5]) {
        clock.startTimer(delayMs, () => firedAfterMs.push(clock.monotonicMs() - startMs - delayMs));
      }
      await advance(30);
      await advance(30);
      expect(firedAfterMs).toHaveLength(3);
      for (const lateMs of firedAfterMs) expect(lateMs).toBeGreaterThanOrEqual(0);
    },
  },
  {
    title: "a timer without delay, or with a negative one, fires later than the call that starts it",
    run: async ({ clock, advance }) => {
      let fired = 0;
      clock.startTimer(0, () => fired++);
      clock.startTimer(-5, () => fired++);
      expect(fired).toBe(0);
      await advance(5);
      expect(fired).toBe(2);
    },
  },
  {
    title: "timers fire in the order in which they are due",
    run: async ({ clock, advance }) => {
      const fired: string[] = [];
      clock.startTimer(40, () => fired.push("late"));
      clock.startTimer(1, () => fired.push("early"));
      clock.startTimer(20, () => fired.push("middle"));
      await advance(80);
      expect(fired).toEqual(["early", "middle", "late"]);
    },
  },
  {
    title: "a cancelled timer never fires; cancelling again, or after it fired, is harmless",
    run: async ({ clock, advance }) => {
      const fired: string[] = [];
      const cancelled = clock.startTimer(1, () => fired.push("cancelled"));
      const kept = clock.startTimer(1, () => fired.push("kept"));
      cancelled.cancel();
      cancelled.cancel();
      await advance(20);
      kept.cancel();
      await advance(20);
      expect(fired).toEqual(["kept"]);
    },
  },
  {
    title: "a delay of months does not fire at once",
    run: async ({ clock, advance }) => {
      let fired = 0;
      const timer = clock.startTimer(90 * 24 * 3_600_000, () => fired++);
      await advance(10);
      expect(fired).toBe(0);
      timer.cancel();
    },
  },
  {
    title: "pauses end and time-outs of calls come, as the protocol waits",
    run: async ({ clock, advance }) => {
      let ended = false;
      const pausing = pause(clock, 5).then(() => {
        ended = true;
      });
      const silent = withTimeout(clock, 5, "a call", () => new Promise<never>(() => undefined));
      const outcome = expect(silent).rejects.toThrow(/no answer in 5 ms/);
      expect(await withTimeout(clock, 50, "a call", async () => "answer")).toBe("answer");
      expect(ended).toBe(false);
      await advance(20);
      await Promise.all([pausing, outcome]);
    },
  },
];

export function clockContract(name: string, make: () => ClockUnderTest): void {
  describe(`clock: ${name}`, () => {
    for (const one of clockCases) it(one.title, () => one.run(make()));
  });
}
