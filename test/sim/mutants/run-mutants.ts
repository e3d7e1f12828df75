/** Runs every mutant until a checker objects, and says which one did, on which seed. */
import { drawPlan } from "../profiles/all-profiles.ts";
import { runPlan } from "../run-plan.ts";
import { allMutants } from "./all-mutants.ts";
import { bundleMutant } from "./bundle-mutant.ts";
import type { Mutant } from "./mutant.ts";

const SEEDS_MAX = 500;

/** An assertion or a crash in the protocol does not count: a checker has to see the wrong. */
const NOT_A_CHECKER = "failure";

interface Catch {
  readonly checker: string;
  readonly profile: string;
  readonly seed: number;
  readonly what: string;
}

/** The changed words name something that is not there: not a wrong protocol, but no protocol. */
const isBroken = (what: string): boolean => /ReferenceError|SyntaxError|is not a function/.test(what);

/** The exit code: 0 if every mutant was caught on a seed on which the true protocol is clean. */
export async function runMutants(
  only: string | undefined,
  json: boolean,
  say: (line: string) => void,
): Promise<number> {
  const startedAt = performance.now();
  const mutants = allMutants.filter(({ name }) => only === undefined || name === only);
  if (mutants.length === 0)
    throw new RangeError(`no mutant ${only}; there are ${allMutants.map(({ name }) => name).join(", ")}`);
  let caught = 0;
  for (const mutant of mutants) {
    const found = await firstCatch(mutant);
    if (found !== undefined) caught++;
    const verdict =
      found === undefined
        ? `SURVIVED ${SEEDS_MAX} seeds`
        : `${found.checker}, ${found.profile} seed ${found.seed}: ${found.what}`;
    say(`${mutant.name} (${mutant.breaks}): ${verdict}`);
  }
  const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(2));
  if (json) say(JSON.stringify({ seeds: SEEDS_MAX, seconds, mutants: mutants.length, caught }));
  else say(`${caught} of ${mutants.length} mutants caught in ${seconds} s`);
  return caught === mutants.length ? 0 : 1;
}

async function firstCatch(mutant: Mutant): Promise<Catch | undefined> {
  const simulator = await bundleMutant(mutant);
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const profile = mutant.profiles[(seed - 1) % mutant.profiles.length] ?? "combined";
    const { violation } = await simulator.runPlan(simulator.drawPlan(profile, seed));
    if (violation === undefined) continue;
    if (isBroken(violation.what))
      throw new Error(`mutant ${mutant.name} does not run: ${violation.what.slice(0, 200)}`);
    if (violation.checker === NOT_A_CHECKER) continue;
    const shipped = await runPlan(drawPlan(profile, seed));
    if (shipped.violation !== undefined) continue;
    return { checker: violation.checker, profile, seed, what: violation.what };
  }
  return undefined;
}
