/** Fair weather: every policy on one matrix, and how near ours comes to the best that is possible. */
import {
  bestPlan,
  clairvoyant,
  clairvoyantWithin,
  hedged,
  noHedging,
  type PolicyResult,
  plainP95,
} from "./baselines.ts";
import { score, scoreInterval } from "./bootstrap.ts";
import { atLeast, atMost, type Gate } from "./gates.ts";
import type { LatencyMatrix } from "./latency-matrix.ts";
import { type OurResult, runOurs } from "./our-policy.ts";
import { percentilesOf } from "./percentiles.ts";
import { latencyHead, latencyRow, share, table } from "./table.ts";

const budget = 0.05;

export interface Section {
  readonly text: string;
  readonly gates: readonly Gate[];
}

/** Policies without knowledge of ours, and the bounds. */
function others(matrix: LatencyMatrix): readonly (readonly [string, PolicyResult])[] {
  return [
    ["no hedging", noHedging(matrix)],
    ["fixed hedge after 2 s", hedged(matrix, { delayMs: 2_000, probability: 1 })],
    ["plain p95 hedge", plainP95(matrix)],
    ["clairvoyant, free choice", clairvoyant(matrix)],
    ["clairvoyant, 5 % hedged", clairvoyantWithin(matrix, budget)],
  ];
}

export async function steadySection(matrix: LatencyMatrix): Promise<Section> {
  const rows = others(matrix).map(([name, result]) => latencyRow(name, result));
  const best = bestPlan(matrix, budget, 0.99);
  const ours = await runOurs(matrix);
  const { delayMs, probability, thirdMs } = best.plan;
  const third = thirdMs === undefined ? "" : `, third after ${thirdMs.toFixed(0)} ms`;
  rows.push(latencyRow("best by grid search at p99", best.result), latencyRow("ours", ours));
  const none = noHedging(matrix);
  const at = {
    none: percentilesOf(none.latencyMs),
    ours: percentilesOf(ours.latencyMs),
    best: percentilesOf(best.result.latencyMs),
    plain: percentilesOf(plainP95(matrix).latencyMs),
  };
  const samples = { none: none.latencyMs, ours: ours.latencyMs, best: best.result.latencyMs };
  const [low, high] = scoreInterval(samples, 0.99);
  const reached = score(at.none.p99, at.ours.p99, at.best.p99);
  const text = [
    table(`Steady: ${matrix.reads} reads, three racks near by and one far region`, latencyHead, rows),
    `best: hedge after ${delayMs.toFixed(1)} ms with probability ${probability.toFixed(2)}${third}\n`,
    `score at p99: ${reached.toFixed(3)}, `,
    `95 % of paired block bootstraps in ${low.toFixed(3)} .. ${high.toFixed(3)}\n`,
    sentLine(ours),
  ].join("");
  const [second = 0, thirdSent = 0] = ours.hedgedTo;
  const gates = [
    atLeast("score at p99, steady", reached, 0.9),
    atMost("extra requests, steady", ours.extra, 0.055),
    atMost("p50 over no hedging, steady", at.ours.p50 / at.none.p50, 1.01),
    atMost("p99.9 over plain p95 hedging, steady", at.ours.p999 / at.plain.p999, 1.5),
    atMost("P(third) / P(second)", thirdSent / Math.max(1, second), 0.1),
    atMost("timers left", ours.pendingTimers, 0),
  ];
  return { text, gates };
}

function sentLine({ policy, hedgedTo, latencyMs }: OurResult): string {
  const { counters } = policy;
  const chances = hedgedTo.map((count, hedge) => `request ${hedge + 2} ${share(count / latencyMs.length)}`);
  return (
    `sent: ${chances.join(", ")}; cross-region hedges ${counters.crossRegionHedges}, ` +
    `hedges denied ${counters.hedgesDenied}, failovers ${counters.failovers}, probes ${counters.probes}\n`
  );
}
