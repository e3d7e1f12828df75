/**
 * A plan with parts left out, and the search for the smallest one that still goes wrong. What stays draws
 * from the same streams as before, so it mostly does what it did before.
 */
import type { Plan } from "./plan.ts";
import { type RunOptions, type RunResult, runPlan } from "./run-plan.ts";
import type { Violation } from "./verdict.ts";

export interface Reduction {
  /** Names of actors, and of faults as `fault-N` by their place in the whole plan. */
  readonly without: readonly string[];
  /** Most operations that any actor may do. */
  readonly operationsMax: number;
}

export const WHOLE: Reduction = { without: [], operationsMax: Number.POSITIVE_INFINITY };

/** What a search found. */
export interface Found extends Reduction {
  /** What the search had used up when it stopped before it had tried everything. */
  readonly stoppedAfter?: { readonly runs: number; readonly events: number };
}

/** How far a search goes. In events of virtual time, so that it stops at the same place on any machine. */
export interface SearchBounds {
  readonly runs: number;
  /** Of one run: a client that was left alone may try again and again for a month. */
  readonly eventsOfRun: number;
  /** Of all runs together. */
  readonly events: number;
}

/** About a minute and a half of CPU time. A whole run of the profile that takes longest has 100,000 events. */
const BOUNDS: SearchBounds = { runs: 200, eventsOfRun: 300_000, events: 4_000_000 };

export function reduced(plan: Plan, { without, operationsMax }: Reduction): Plan {
  return {
    ...plan,
    actors: plan.actors
      .filter(({ name }) => !without.includes(name))
      .map((actor) => ({ ...actor, operations: Math.min(actor.operations, operationsMax) })),
    ...(plan.functions === undefined
      ? {}
      : { functions: plan.functions.filter(({ name }) => !without.includes(name)) }),
    faults: plan.faults.filter((_, index) => !without.includes(`fault-${index}`)),
  };
}

/** The smallest reduction found under which the same checker still objects. */
export async function smallest(
  plan: Plan,
  violation: Violation,
  run: (plan: Plan, options: RunOptions) => Promise<RunResult> = runPlan,
  bounds: SearchBounds = BOUNDS,
): Promise<Found> {
  const used = { runs: 0, events: 0 };
  let isStopped = false;
  const stillWrong = async (candidate: Reduction): Promise<boolean> => {
    const eventsMax = Math.min(bounds.eventsOfRun, bounds.events - used.events);
    isStopped ||= used.runs >= bounds.runs || eventsMax <= 0;
    if (isStopped) return false;
    const result = await run(reduced(plan, candidate), { eventsMax });
    used.runs++;
    used.events += result.events;
    return result.violation?.checker === violation.checker;
  };
  // Few operations first: the runs that follow are the shorter for it.
  const busy = await fewestOperations(plan, WHOLE, stillWrong);
  const small = await fewestParts(plan, busy, stillWrong);
  const found = await fewestOperations(plan, small, stillWrong);
  return isStopped ? { ...found, stoppedAfter: used } : found;
}

type StillWrong = (candidate: Reduction) => Promise<boolean>;

async function fewestOperations(plan: Plan, from: Reduction, stillWrong: StillWrong): Promise<Reduction> {
  const most = Math.max(...plan.actors.map(({ operations }) => Math.min(operations, from.operationsMax)));
  for (let operationsMax = 2; operationsMax < most; operationsMax = Math.ceil(operationsMax * 1.7)) {
    const candidate = { ...from, operationsMax };
    if (await stillWrong(candidate)) return candidate;
  }
  return from;
}

/** Leaves out halves, quarters and so on, as long as that still goes wrong. */
async function fewestParts(plan: Plan, from: Reduction, stillWrong: StillWrong): Promise<Reduction> {
  let best = from;
  const named = [...plan.actors, ...(plan.functions ?? [])].map(({ name }) => name);
  let parts = [...named, ...plan.faults.map((_, index) => `fault-${index}`)];
  for (let size = Math.ceil(parts.length / 2); size >= 1; ) {
    const kept: string[] = [];
    for (let start = 0; start < parts.length; start += size) {
      const chunk = parts.slice(start, start + size);
      const candidate = { ...best, without: [...best.without, ...chunk] };
      if (await stillWrong(candidate)) best = candidate;
      else kept.push(...chunk);
    }
    const progress = kept.length < parts.length;
    parts = kept;
    if (size === 1 && !progress) break;
    size = size > 1 ? Math.ceil(size / 2) : 1;
  }
  return best;
}
