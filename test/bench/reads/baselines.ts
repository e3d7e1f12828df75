/**
 * What reading policies of other kinds would have made of the same matrix, worked out by arithmetic alone.
 * Nothing here knows how our own policy works.
 */
import { type LatencyMatrix, latencyAt } from "./latency-matrix.ts";
import { at } from "./percentiles.ts";

export interface PolicyResult {
  readonly latencyMs: Float64Array;
  /** Requests beyond one per read, as a share of the reads. */
  readonly extra: number;
}

/** The nearest bookie, at random among equals; waits for as long as it takes, up to the call's timeout. */
export function noHedging(matrix: LatencyMatrix): PolicyResult {
  return hedged(matrix, { delayMs: Number.POSITIVE_INFINITY, probability: 0 });
}

export interface HedgePlan {
  readonly delayMs: number;
  /** Share of the reads that may hedge at all. */
  readonly probability: number;
  /** Send a third request so long after the read began, to the replica that is left near by. */
  readonly thirdMs?: number;
}

/** A client gives up a request after so long and its read with it. */
const TIMEOUT_MS = 1_500;

/** A second request after a fixed delay, to another of the nearest bookies. */
export function hedged(matrix: LatencyMatrix, plan: HedgePlan): PolicyResult {
  const latencyMs = new Float64Array(matrix.reads);
  let extra = 0;
  for (let read = 0; read < matrix.reads; read++) {
    const first = matrix.firstChoice[read] ?? 0;
    const second = matrix.secondChoice[read] ?? 0;
    let answeredMs = Math.min(TIMEOUT_MS, latencyAt(matrix, read, first));
    if (answeredMs > plan.delayMs && (matrix.lot[read] ?? 0) < plan.probability) {
      extra += 1;
      answeredMs = Math.min(answeredMs, plan.delayMs + latencyAt(matrix, read, second));
      if (plan.thirdMs !== undefined && answeredMs > plan.thirdMs) {
        extra += 1;
        answeredMs = Math.min(answeredMs, plan.thirdMs + latencyAt(matrix, read, thirdOf(first, second)));
      }
    }
    latencyMs[read] = answeredMs;
  }
  return { latencyMs, extra: extra / matrix.reads };
}

/** The nearest three have the numbers 0, 1 and 2 in the fixed layout. */
function thirdOf(first: number, second: number): number {
  return 3 - first - second;
}

/** A hedge at the true p95 of the first requests: about 5 % extra in fair weather, unbounded in foul. */
export function plainP95(matrix: LatencyMatrix): PolicyResult {
  return hedged(matrix, { delayMs: at(sortedFirst(matrix), 0.95), probability: 1 });
}

/** For each read the fastest replica: no policy can do better. */
export function clairvoyant(matrix: LatencyMatrix): PolicyResult {
  const latencyMs = new Float64Array(matrix.reads);
  for (let read = 0; read < matrix.reads; read++) {
    latencyMs[read] = Math.min(...matrix.latencyMs.map((_, replica) => latencyAt(matrix, read, replica)));
  }
  return { latencyMs, extra: 0 };
}

/** The first replica by chance, and the share `budget` of the reads hedged at once, where it gains most. */
export function clairvoyantWithin(matrix: LatencyMatrix, budget: number): PolicyResult {
  const latencyMs = noHedging(matrix).latencyMs;
  const best = clairvoyant(matrix).latencyMs;
  const gain = (read: number) => (latencyMs[read] ?? 0) - (best[read] ?? 0);
  const byGain = Array.from({ length: matrix.reads }, (_, read) => read).sort(
    (one, other) => gain(other) - gain(one),
  );
  const hedges = Math.floor(budget * matrix.reads);
  for (const read of byGain.slice(0, hedges)) latencyMs[read] = best[read] ?? 0;
  return { latencyMs, extra: hedges / matrix.reads };
}

export interface BestPlan {
  readonly plan: HedgePlan;
  readonly result: PolicyResult;
}

/**
 * The best policy that does not see the future but knows the true distribution, at the same budget: every
 * delay of a grid, hedging as many as the budget allows (a single reissue at one delay with one probability
 * is optimal for a percentile, "Optimal Reissue Policies", SPAA 2017), with and without a third request.
 */
export function bestPlan(matrix: LatencyMatrix, budget: number, percentile: number): BestPlan {
  const sorted = sortedFirst(matrix);
  let best: BestPlan | undefined;
  let bestMs = Number.POSITIVE_INFINITY;
  for (const plan of gridOf(sorted, budget)) {
    const result = hedged(matrix, plan);
    if (result.extra > budget * 1.002) continue;
    // Reads within the delay are as they were: only the slower ones need sorting.
    const slow = result.latencyMs.filter((latency) => latency > plan.delayMs).sort();
    const fromTop = matrix.reads - Math.ceil(percentile * matrix.reads);
    const reachedMs = slow[slow.length - 1 - fromTop] ?? plan.delayMs;
    if (reachedMs >= bestMs) continue;
    best = { plan, result };
    bestMs = reachedMs;
  }
  if (best === undefined) throw new Error("no plan of the grid keeps the budget");
  return best;
}

function gridOf(sorted: Float64Array, budget: number): HedgePlan[] {
  const shares = Array.from({ length: 21 }, (_, step) => budget * (1 + step / 10));
  shares.push(0.2, 0.25, 0.3, 0.4, 0.5);
  return shares.flatMap((share) => {
    const delayMs = at(sorted, 1 - share);
    // A third request needs some of the budget of the second.
    const thirds = [0.9, 0.97].flatMap((kept) =>
      [0.5, 1, 2].map((gap) => {
        const thirdMs = delayMs + gap * at(sorted, 0.9);
        return { delayMs, probability: (kept * budget) / share, thirdMs };
      }),
    );
    return [{ delayMs, probability: budget / share }, ...thirds];
  });
}

function sortedFirst(matrix: LatencyMatrix): Float64Array {
  return noHedging(matrix).latencyMs.sort();
}
