/**
 * The simulator's command.
 *
 *     npm run sim -- --seed 42                     one seed; its profile follows from the seed
 *     npm run sim -- --seeds 2000 [--from 1]       many, the profiles in turn
 *     npm run sim -- --seeds 500 --profile storm   many of one profile
 *     npm run sim -- --mutants                     wrong protocols, each of which must be caught
 *     npm run sim -- --mutant NAME,NAME            some of them
 *
 * `--json` ends with one line of JSON. The command fails if anything was violated or any mutant survived, and
 * with `--floors` if the seeds saw too little (`floors.ts`). `--jobs N` runs in N processes, one for each core
 * unless given; what each seed does is the same. `--remember` writes down which seed caught which mutant.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { runMutants } from "./mutants/run-mutants.ts";
import { WHOLE } from "./reduction.ts";
import { runSeeds } from "./run-seeds.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    profile: { type: "string" },
    json: { type: "boolean", default: false },
    floors: { type: "boolean", default: false },
    jobs: { type: "string" },
    mutants: { type: "boolean", default: false },
    mutant: { type: "string" },
    remember: { type: "boolean", default: false },
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

const { json, floors, remember } = values;
const jobs = Math.max(1, values.jobs === undefined ? availableParallelism() : whole("jobs", values.jobs));

function seeds(): Promise<number> {
  const reduction = {
    without: values.without?.split(",") ?? [],
    operationsMax:
      values.operations === undefined ? WHOLE.operationsMax : whole("operations", values.operations),
  };
  const from = whole("from", values.seed ?? values.from);
  const count = values.seed === undefined ? whole("seeds", values.seeds ?? "100") : 1;
  return runSeeds({ from, count, profile: values.profile, reduction, json, floors, jobs }, say);
}

function mutants(): Promise<number> {
  const only = values.mutant?.split(",");
  return runMutants({ ...(only === undefined ? {} : { only }), json, remember, jobs }, say);
}

process.exitCode = values.mutants || values.mutant !== undefined ? await mutants() : await seeds();
