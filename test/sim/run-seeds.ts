/** Runs many seeds, prints those that go wrong, and sums up. */
import { floors, functionFloors, missedFloors } from "./floors.ts";
import { drawPlan, profileOf } from "./profiles/all-profiles.ts";
import { type Reduction, smallest } from "./reduction.ts";
import { nothing, type RunCounts, together } from "./run-counts.ts";
import { story } from "./story.ts";
import { type Job, type JobDone, runJobs } from "./workers.ts";

/** Failing seeds that are reduced and printed; of the others only the seed is printed. */
const STORIES_MAX = 3;

export interface SeedsRequest {
  readonly from: number;
  readonly count: number;
  /** Absent: they take turns. */
  readonly profile: string | undefined;
  readonly reduction: Reduction;
  readonly json: boolean;
  /** Whether too little seen is a failure. */
  readonly floors: boolean;
  /** Processes that run them. */
  readonly jobs: number;
}

interface Sum {
  counts: RunCounts;
  violations: number;
}

/** The exit code: 0 if nothing was violated, and enough was seen if that was asked for. */
export async function runSeeds(request: SeedsRequest, say: (line: string) => void): Promise<number> {
  const { from, count, reduction } = request;
  const startedAt = performance.now();
  const { without, operationsMax } = reduction;
  const sent = { without, operationsMax: Number.isFinite(operationsMax) ? operationsMax : null };
  const jobs = Array.from({ length: count }, (_, index): Job => {
    const seed = from + index;
    return { kind: "seed", seed, profile: request.profile ?? profileOf(seed), reduction: sent };
  });
  const sum: Sum = { counts: nothing, violations: 0 };
  const { cpuSeconds } = await runJobs(jobs, request.jobs, (job, result) =>
    take(job, result, sum, reduction, say),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  report(count, sum, cpuSeconds, seconds, request.json ? jsonTold : told, say);
  const wanted = request.profile === "functions" ? functionFloors : floors;
  const missed = request.floors ? missedFloors(wanted, count, sum.counts) : [];
  for (const line of missed) process.stderr.write(`too little seen: ${line}\n`);
  return sum.violations === 0 && missed.length === 0 ? 0 : 1;
}

async function take(
  job: Job,
  { counts, violation }: JobDone,
  sum: Sum,
  given: Reduction,
  say: (line: string) => void,
): Promise<void> {
  if (counts !== undefined) sum.counts = together(sum.counts, { ...counts, faults: new Map(counts.faults) });
  if (violation === undefined || job.kind !== "seed") return;
  sum.violations++;
  say(`seed ${job.seed}, profile ${job.profile}: ${violation.checker}: ${violation.what}`);
  if (sum.violations > STORIES_MAX) return;
  const plan = drawPlan(job.profile, job.seed);
  const isWhole = given.without.length === 0 && !Number.isFinite(given.operationsMax);
  say(await story(plan, isWhole ? await smallest(plan, violation) : given));
}

function report(
  seeds: number,
  { counts, violations }: Sum,
  cpuSeconds: number,
  seconds: number,
  tell: (summary: Summary) => readonly string[],
  say: (line: string) => void,
): void {
  const { faults, ...numbers } = counts;
  const fired = Object.fromEntries([...faults].sort(([one], [other]) => (one < other ? -1 : 1)));
  const stepsPerCpuSecond = Math.round(counts.steps / cpuSeconds);
  const summary = { seeds, violations, ...numbers, faults: fired, stepsPerCpuSecond };
  for (const line of tell({ ...summary, seconds: Number(seconds.toFixed(2)) })) say(line);
}

interface Summary extends Omit<RunCounts, "faults"> {
  readonly seeds: number;
  readonly violations: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly stepsPerCpuSecond: number;
  readonly seconds: number;
}

const jsonTold = (summary: Summary): string[] => [JSON.stringify(summary)];

function told(summary: Summary): string[] {
  const { seeds, violations, steps, stepsPerCpuSecond, seconds } = summary;
  const { acknowledged, recoveries, ensembleChanges, takeovers, faults } = summary;
  return [
    `${seeds} seeds, ${violations} violations, ${steps} steps, ${stepsPerCpuSecond} a CPU second, ${seconds} s`,
    `acknowledged ${acknowledged}, recoveries ${recoveries}, ensemble changes ${ensembleChanges}, takeovers ${takeovers}`,
    ...Object.entries(faults).map(([kind, count]) => `  ${kind}: ${count}`),
  ];
}
