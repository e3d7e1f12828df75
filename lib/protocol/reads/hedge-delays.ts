/**
 * When to send the second request of a read, the third, and so on, counted from the first. The delay before
 * each is such that the n-th request is sent with probability at most B^(n-1): T(n+1) is the first moment at
 * which all n requests before it are still unanswered with probability at most B^n. A request that costs
 * several tokens is sent as much more rarely, so that each further step costs at most B times the one before.
 * And each request gets the time that one usually takes before the next is sent: what stalls them all for a
 * moment is not to be answered by all of them at once.
 */
import type { Survival } from "./class-latency.ts";
import { readLimits } from "./read-limits.ts";

export interface Step {
  /** Latencies of the class of the replica asked in this step; undefined if too little is known. */
  readonly survival: Survival | undefined;
  /** First hedge while too little is known, in ms. */
  readonly defaultMs: number;
  /** Tokens that this request costs as a hedge. */
  readonly cost: number;
}

const { hedgeBudget, hedgeDemand, hedgesMax, hedgeDelayMinMs, hedgeDelayMaxMs, hedgeGapMinMs } = readLimits;

/** Delays from the first request, in ms, increasing; at most `hedgesMax`, fewer if no more are worth it. */
export function hedgeDelays(steps: readonly Step[]): readonly number[] {
  const sentMs = [0];
  for (const step of steps.slice(1, hedgesMax + 1)) {
    const isFirst = sentMs.length === 1;
    const delayMs = isFirst ? firstHedge(steps[0], step.cost) : furtherHedge(steps, sentMs, step.cost);
    if (delayMs === undefined) break;
    sentMs.push(delayMs);
  }
  return sentMs.slice(1);
}

function firstHedge(first: Step | undefined, cost: number): number {
  if (first?.survival === undefined) return first?.defaultMs ?? readLimits.hedgeDelayDefaultMs;
  const delayMs = first.survival.quantile(1 - (hedgeBudget * hedgeDemand) / cost) ?? hedgeDelayMaxMs;
  return Math.min(hedgeDelayMaxMs, Math.max(hedgeDelayMinMs, delayMs));
}

function furtherHedge(steps: readonly Step[], sentMs: readonly number[], cost: number): number | undefined {
  const lastMs = sentMs.at(-1) ?? 0;
  const sent = steps.slice(0, sentMs.length);
  // Too little known: the gaps double.
  if (sent.some((step) => step.survival === undefined)) return 3 * lastMs - 2 * (sentMs.at(-2) ?? 0);
  const allowed = hedgeBudget ** sent.length / cost;
  const usualMs = sent.at(-1)?.survival?.quantile(0.5) ?? 0;
  for (
    let t = lastMs + Math.max(hedgeGapMinMs, usualMs);
    t <= readLimits.attemptTimeoutMs;
    t = Math.max(t * 1.02, t + 0.5)
  ) {
    const unanswered = sent.reduce(
      (product, step, index) => product * (step.survival?.beyond(t - (sentMs[index] ?? 0)) ?? 1),
      1,
    );
    if (unanswered <= allowed) return t;
  }
  return undefined;
}
