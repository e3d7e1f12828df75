/** Distance between regions, played by waiting. */
import type { Clock } from "../protocol/deadline.ts";
import { type CallSignal, pause, throwIfAborted } from "../protocol/waiting.ts";

/**
 * Makes a call to another region: half the delay on the way there, half on the way back. Aborted, it stops
 * waiting at once; what has arrived over there takes its effect.
 */
export async function roundTrip<T>(
  clock: Clock,
  delayMs: number,
  call: () => Promise<T>,
  signal?: CallSignal,
): Promise<T> {
  if (delayMs === 0) return await call();
  await pause(clock, delayMs / 2, signal);
  throwIfAborted(signal, "call to another region");
  const answer = await call();
  await pause(clock, delayMs / 2, signal);
  return answer;
}
