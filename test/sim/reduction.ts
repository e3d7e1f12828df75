/**
 * A plan with parts left out, and the search for the smallest one that still goes wrong. What stays draws
 * from the same streams as before, so it mostly does what it did before.
 */
import type { Plan } from "./plan.ts";
import { type RunResult, runPlan } from "./run-plan.ts";
import type { Violation } from "./verdict.ts";

export interface Reduction {
  /** Names of actors, and of faults as `fault-N` by their place in the whole plan. */
  readonly without: readonly string[];
  /** Most operations that any actor may do. */
  readonly operationsMax: number;
}

export const WHOLE: Reduction = { without: [], operationsMax: Number.POSITIVE_INFINITY };

/** Runs that the search may take. */
const TRIES_MAX = 200;

export function reduced(plan: Plan, { without, operationsMax }: Reduction): Plan {
  return {
    ...plan,
    actors: plan.actors
      .filter(({ name }) => !without.includes(name))
      .map((actor) => ({ ...actor, operations: Math.min(actor.operations, operationsMax) })),
    faults: plan.faults.filter((_, index) => !without.includes(`fault-${index}`)),
  };
}

/** The smallest reduction found under which the same checker still objects. */
export async function smallest(
  plan: Plan,
  violation: Violation,
  run: (plan: Plan) => Promise<RunResult> = runPlan,
): Promise<Reduction> {
  let best = WHOLE;
  let tries = 0;
  const stillWrong = async (candidate: Reduction): Promise<boolean> => {
    if (tries >= TRIES_MAX) return false;
    tries++;
    const result = await run(reduced(plan, candidate));
    return result.violation?.checker === violation.checker;
  };

  let parts = [...plan.actors.map(({ name }) => name), ...plan.faults.map((_, index) => `fault-${index}`)];
  for (let size = Math.ceil(parts.length / 2); size >= 1 && tries < TRIES_MAX; ) {
    const kept: string[] = [];
    for (let start = 0; start < parts.length; start += size) {
      const chunk = parts.slice(start, start + size);
      const candidate = { ...best, without: [...best.without, ...chunk] };
      if (await stillWrong(candidate)) best = candidate;
      else kept.push(...chunk);
    }
    const progress = kept.length < parts.length;
    parts = kept;
    if (size > 1) size = Math.ceil(size / 2);
    else if (!progress) break;
  }
  let operations = Math.max(0, ...plan.actors.map((actor) => actor.operations));
  for (let step = operations / 2; step >= 1; step /= 2) {
    const candidate = { ...best, operationsMax: Math.max(1, Math.floor(operations - step)) };
    if (!(await stillWrong(candidate))) continue;
    best = candidate;
    operations = candidate.operationsMax;
  }
  return best;
}
