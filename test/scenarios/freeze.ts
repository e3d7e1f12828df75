/** A process that freezes at one of its calls, and the ways in which it may. */
import type { Faults, Match, Moment } from "./faults.ts";

/** The side of the call's effect, and what its clocks do meanwhile: methods of TestClock. */
export const freezes = [
  ["before", "jump"],
  ["after", "jump"],
  ["before", "suspend"],
  ["after", "suspend"],
] as const;

/** Of the calls that match, the `at`-th from now on, from 0, and all that come after it wait for the thaw. */
export function freezeAt(faults: Faults, matches: readonly Match[], moment: Moment, at: number) {
  let thaw = () => {};
  const thawed = new Promise<void>((resolve) => (thaw = resolve));
  let count = 0;
  for (const match of matches) {
    faults.at(match, moment, Number.POSITIVE_INFINITY, () => (count++ < at ? undefined : thawed));
  }
  return { thaw: () => thaw(), thawed, isFrozen: () => count > at };
}
