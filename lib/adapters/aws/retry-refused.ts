/** Repeats calls that were certainly refused and may soon succeed: throttles, and writes that met another. */
import type { Clock } from "../../protocol/deadline.ts";
import { type Random, randomBelow } from "../../protocol/random.ts";
import { type CallSignal, pause } from "../../protocol/waiting.ts";
import { callFailure } from "./call-failure.ts";

export interface RetryPorts {
  readonly clock: Clock;
  readonly random: Random;
}

/** Together, with their pauses, well below what a caller waits for one call. */
const REFUSED_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 20;

/** Throws what the last attempt threw. A call whose effect is unknown is never repeated here. */
export async function retryRefused<T>(ports: RetryPorts, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const { passes, sideEffects } = callFailure(error);
      if (!passes || sideEffects !== "none" || attempt >= REFUSED_ATTEMPTS) throw error;
      await pauseAfter(ports, attempt);
    }
  }
}

/** Doubles with each attempt; half of it is random, so that two who met do not meet again. */
export async function pauseAfter(
  { clock, random }: RetryPorts,
  attempt: number,
  signal?: CallSignal,
): Promise<void> {
  const longestMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  await pause(clock, longestMs / 2 + randomBelow(random, Math.ceil(longestMs / 2)), signal);
}
