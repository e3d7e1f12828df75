/** Distance between regions, played by waiting. */
import type { Clock } from "../protocol/ports.ts";
import { pause } from "../protocol/waiting.ts";

/** Makes a call to another region: half the delay on the way there, half on the way back. */
export async function roundTrip<T>(clock: Clock, delayMs: number, call: () => Promise<T>): Promise<T> {
  if (delayMs === 0) return await call();
  await pause(clock, delayMs / 2);
  const answer = await call();
  await pause(clock, delayMs / 2);
  return answer;
}
