/**
 * The pause before something is begun again that a rival got in the way of: a random part of a bound that
 * doubles. Two writers that fence each other in turn thus come apart, and the one that got there first has
 * time to write.
 */
import type { Clock } from "../clock.ts";
import { limits } from "../limits.ts";
import { type Random, randomBelow } from "../random.ts";
import { pause } from "../waiting.ts";

/** `restart` counts from 1. */
export function restartPause(
  ports: { readonly clock: Clock; readonly random: Random },
  restart: number,
): Promise<void> {
  const boundMs = Math.min(limits.restartPauseMsMax, limits.restartPauseMs * 2 ** (restart - 1));
  return pause(ports.clock, 1 + randomBelow(ports.random, boundMs));
}
