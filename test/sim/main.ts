/**
 * The simulator's command.
 *
 *     npm run sim -- --seed 42                     one seed; its profile follows from the seed
 *     npm run sim -- --seeds 2000 [--from 1]       many, the profiles in turn
 *     npm run sim -- --seeds 500 --profile storm   many of one profile
 *     npm run sim -- --mutants                     wrong protocols, each of which must be caught
 *
 * `--json` ends with one line of JSON. The command fails if anything was violated or any mutant survived.
 */
import { parseArgs } from "node:util";
import { runMutants } from "./mutants/run-mutants.ts";
import { drawPlan, profileOf } from "./profiles/all-profiles.ts";
import { type Reduction, reduced, smallest, WHOLE } from "./reduction.ts";
import { nothing, type RunCounts, together } from "./run-counts.ts";
import { runPlan } from "./run-plan.ts";
import { story } from "./story.ts";

/** Failing seeds that are reduced and told; of the others only the seed is printed. */
const STORIES_MAX = 3;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    profile: { type: "string" },
    json: { type: "boolean", default: false },
    mutants: { type: "boolean", default: false },
    mutant: { type: "string" },
    without: { type: "string" },
    operations: { type: "string" },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);

function whole(name: string, value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new RangeError(`--${name} takes a whole number from 0 to 2^53 - 1, got ${value}`);
}

async function runSeeds(): Promise<number> {
  const from = whole("from", values.seed ?? values.from);
  const count = values.seed === undefined ? whole("seeds", values.seeds ?? "100") : 1;
  const given: Reduction = {
    without: values.without?.split(",") ?? [],
    operationsMax:
      values.operations === undefined ? WHOLE.operationsMax : whole("operations", values.operations),
  };
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  let counts = nothing;
  let violations = 0;
  for (let seed = from; seed < from + count; seed++) {
    const plan = drawPlan(values.profile ?? profileOf(seed), seed);
    const result = await runPlan(reduced(plan, given));
    counts = together(counts, result.counts);
    if (result.violation === undefined) continue;
    violations++;
    say(`seed ${seed}, profile ${plan.profile}: ${result.violation.checker}: ${result.violation.what}`);
    if (violations > STORIES_MAX) continue;
    const reduction = given.without.length > 0 ? given : await smallest(plan, result.violation);
    say(await story(plan, reduction));
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  report(count, violations, counts, (user + system) / 1e6, (performance.now() - startedAt) / 1000);
  return violations === 0 ? 0 : 1;
}

function report(
  seeds: number,
  violations: number,
  counts: RunCounts,
  cpuSeconds: number,
  seconds: number,
): void {
  const { faults, ...numbers } = counts;
  const fired = Object.fromEntries([...faults].sort(([one], [other]) => (one < other ? -1 : 1)));
  const stepsPerCpuSecond = Math.round(counts.steps / cpuSeconds);
  const summary = {
    seeds,
    violations,
    ...numbers,
    faults: fired,
    stepsPerCpuSecond,
    seconds: Number(seconds.toFixed(2)),
  };
  if (values.json) say(JSON.stringify(summary));
  else {
    say(
      `${seeds} seeds, ${violations} violations, ${counts.steps} steps, ${stepsPerCpuSecond} a CPU second, ${seconds.toFixed(1)} s`,
    );
    say(
      `acknowledged ${counts.acknowledged}, recoveries ${counts.recoveries}, ensemble changes ${counts.ensembleChanges}, takeovers ${counts.takeovers}`,
    );
    for (const [kind, count] of Object.entries(fired)) say(`  ${kind}: ${count}`);
  }
}

const asksForMutants = values.mutants || values.mutant !== undefined;
process.exitCode = asksForMutants ? await runMutants(values.mutant, values.json, say) : await runSeeds();
