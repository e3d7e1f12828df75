/** The simulator's command: what it takes is in USAGE. */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { checkMutants } from "./mutants/check-mutants.ts";
import { runMutants } from "./mutants/run-mutants.ts";
import { profileNames } from "./profiles/all-profiles.ts";
import { WHOLE } from "./reduction.ts";
import { runSeeds } from "./run-seeds.ts";

const USAGE = `
npm run sim -- --seed 42                     one seed; its profile follows from the seed
npm run sim -- --seeds 2000 [--from 1]       many, the profiles in turn
npm run sim -- --seeds 500 --profile storm   many of one profile
npm run sim -- --mutants                     wrong protocols, each of which must be caught
npm run sim -- --mutant NAME,NAME            some of them
npm run sim -- --mutants --check             only says which of them do not apply or compile

--json ends with one line of JSON. The command fails if anything was violated or any mutant survived, and with
--floors if the seeds saw too little (floors.ts). --jobs N runs in N processes, one for each core unless given;
what each seed does is the same. --remember writes down which seed caught which mutant. --without and
--operations leave parts of a seed's plan out, as the line that a failing seed prints says.
`;

const say = (line: string) => process.stdout.write(`${line}\n`);

function given() {
  return parseArgs({
    options: {
      help: { type: "boolean", default: false },
      seed: { type: "string" },
      seeds: { type: "string" },
      from: { type: "string", default: "1" },
      profile: { type: "string" },
      json: { type: "boolean", default: false },
      floors: { type: "boolean", default: false },
      jobs: { type: "string" },
      mutants: { type: "boolean", default: false },
      mutant: { type: "string" },
      check: { type: "boolean", default: false },
      remember: { type: "boolean", default: false },
      without: { type: "string" },
      operations: { type: "string" },
    },
  }).values;
}

function whole(name: string, value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new RangeError(`--${name} takes a whole number from 0 to 2^53 - 1, got ${value}`);
}

type Values = ReturnType<typeof given>;

function seeds(values: Values, jobs: number): Promise<number> {
  const { profile, json, floors } = values;
  const reduction = {
    without: values.without?.split(",") ?? [],
    operationsMax:
      values.operations === undefined ? WHOLE.operationsMax : whole("operations", values.operations),
  };
  const from = values.seed === undefined ? whole("from", values.from) : whole("seed", values.seed);
  const count = values.seed === undefined ? whole("seeds", values.seeds ?? "100") : 1;
  if (profile !== undefined && profile !== "functions" && !profileNames.includes(profile)) {
    throw new RangeError(`no profile ${profile}; there are functions, ${profileNames.join(", ")}`);
  }
  return runSeeds({ from, count, profile, reduction, json, floors, jobs }, say);
}

async function mutants({ mutant, json, remember, check }: Values, jobs: number): Promise<number> {
  if (check) return await checkMutants(say);
  const only = mutant?.split(",");
  return await runMutants({ ...(only === undefined ? {} : { only }), json, remember, jobs }, say);
}

async function main(): Promise<number> {
  const values = given();
  if (values.help) {
    say(USAGE.trim());
    return 0;
  }
  const jobs = Math.max(1, values.jobs === undefined ? availableParallelism() : whole("jobs", values.jobs));
  const runsMutants = values.mutants || values.mutant !== undefined;
  return await (runsMutants ? mutants(values, jobs) : seeds(values, jobs));
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof RangeError) && !(error instanceof TypeError && "code" in error)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
