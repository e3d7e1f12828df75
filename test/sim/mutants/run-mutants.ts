/** Runs every mutant until a checker objects or its test fails, and says which one did. */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { runJobs } from "../workers.ts";
import { allMutants } from "./all-mutants.ts";
import { checkMutants, mutantsThatDoNotApply } from "./check-mutants.ts";
import { SEEDS_MAX } from "./first-catch.ts";
import { knownCatches } from "./known-catches.ts";
import type { WrongVersion } from "./mutant.ts";
import { testedMutants, uncaughtMutants } from "./tested-mutants.ts";

export interface MutantsRequest {
  /** Absent: all of them. */
  readonly only?: readonly string[];
  readonly json: boolean;
  /** Whether the seeds found are written down for the next time. */
  readonly remember: boolean;
  /** Processes that run them. */
  readonly jobs: number;
}

/** The exit code: 0 if every mutant was caught, by a seed on which the true protocol is clean or by its test. */
export async function runMutants(request: MutantsRequest, say: (line: string) => void): Promise<number> {
  const { only, json, remember, jobs } = request;
  const startedAt = performance.now();
  const unknown = only?.find((name) => !catchable.some((mutant) => mutant.name === name));
  if (unknown !== undefined)
    throw new RangeError(`no mutant ${unknown}; there are ${catchable.map(({ name }) => name).join(", ")}`);
  const mutants = catchable.filter(({ name }) => only === undefined || only.includes(name));
  if (mutantsThatDoNotApply(mutants).length > 0) return await checkMutants(say, mutants);
  const seeds = new Map(Object.entries(knownCatches));
  let caught = 0;
  await runJobs(
    mutants.map(({ name }) => ({ kind: "mutant", name })),
    jobs,
    (job, { caught: found }) => {
      const mutant = mutants.find((one) => job.kind === "mutant" && one.name === job.name);
      if (mutant === undefined) return;
      if (found !== undefined) caught++;
      if (found?.seed !== undefined) seeds.set(mutant.name, found.seed);
      const verdict = found === undefined ? survived(mutant.name) : `${found.by}: ${found.what}`;
      say(`${mutant.name} (${mutant.breaks}): ${verdict}`);
    },
  );
  if (only === undefined)
    for (const { name, breaks } of uncaughtMutants)
      say(`${name} (${breaks}): NOT RUN, nothing catches it yet`);
  if (remember) await writeKnownCatches(seeds);
  const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(2));
  if (json) say(JSON.stringify({ seeds: SEEDS_MAX, seconds, mutants: mutants.length, caught }));
  else say(`${caught} of ${mutants.length} mutants caught in ${seconds} s`);
  return caught === mutants.length ? 0 : 1;
}

const catchable: readonly WrongVersion[] = [...allMutants, ...testedMutants];

function survived(name: string): string {
  const tested = testedMutants.find((mutant) => mutant.name === name);
  return `SURVIVED ${tested === undefined ? `${SEEDS_MAX} seeds` : `the test ${tested.caughtBy.title}`}`;
}

async function writeKnownCatches(seeds: ReadonlyMap<string, number>): Promise<void> {
  const file = fileURLToPath(new URL("./known-catches.ts", import.meta.url));
  const lines = allMutants.flatMap(({ name }) => {
    const seed = seeds.get(name);
    return seed === undefined ? [] : [`  "${name}": ${seed},`];
  });
  await writeFile(file, `${HEAD}{\n${lines.join("\n")}\n};\n`);
}

const HEAD = `/**
 * The seed, from 1 to 500, that showed each mutant last time, so that the next run need not search again. It
 * only decides which seed is tried first. \`--mutants --remember\` writes this file.
 */
export const knownCatches: Readonly<Record<string, number>> = `;
