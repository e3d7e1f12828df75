/** A checker watches a run for one kind of wrong. It looks at everything and touches nothing. */
import type { Observer } from "../observations.ts";
import type { World } from "../world.ts";

/** Reports what must not be; `subject` (a ledger, a log) selects the events worth telling. */
export type Report = (what: string, subject?: string | number) => void;

export interface Checker {
  readonly name: string;
  watch(world: World, report: Report): Observer;
}
