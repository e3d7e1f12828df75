/** How long a call is repeated: as long as its caller is patient, and not after a sleep of the host. */
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { NoAnswerError } from "../../lib/client/client-errors.ts";
import { Retries, sleep } from "../../lib/client/retry.ts";

const HOUR_MS = 3_600_000;
const lost = new NoAnswerError("no answer", "possible", undefined, "http://here");

test("it is repeated while the patience lasts, and no pause outlasts that", async () => {
  expect(await new Retries({ patienceMs: 1_000, pauseMs: 1 }).next(lost)).toBe(true);
  expect(await new Retries({ patienceMs: 20, pauseMs: 1_000 }).next(lost)).toBe(false);
  expect(await new Retries({ patienceMs: 1_000, pauseMs: 1, mayRepeat: false }).next(lost)).toBe(false);
});

test.each([
  ["Date", Date],
  ["performance", performance],
] as const)(
  "what was wanted before the host slept is not asked for after it: %s goes on",
  async (_, clock) => {
    const awake = clock.now.bind(clock);
    const sleeps = () => void vi.spyOn(clock, "now").mockImplementation(() => awake() + HOUR_MS);
    const retries = new Retries({ patienceMs: 60_000, pauseMs: 1, onRetry: sleeps });
    expect(retries.requestMs).toBeGreaterThan(59_000);
    expect(await retries.next(lost)).toBe(false);
  },
);

describe("many that sleep on one signal", () => {
  const SLEEPERS = 50;

  test("add one listener, which goes with the last of them, and Node warns of no leak", async () => {
    const warned = vi.spyOn(process, "emitWarning");
    const { signal } = new AbortController();
    const sleepers = Array.from({ length: SLEEPERS }, (_, index) => sleep(1 + index, signal));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await sleepers[0];
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await Promise.all(sleepers);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await sleep(1, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(warned).not.toHaveBeenCalled();
  });

  test("all wake when it is aborted, and those that come later do not sleep", async () => {
    const stop = new AbortController();
    const sleepers = Array.from({ length: SLEEPERS }, () => sleep(HOUR_MS, stop.signal));
    stop.abort();
    await Promise.all(sleepers);
    await sleep(HOUR_MS, stop.signal);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });
});
