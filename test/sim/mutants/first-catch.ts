/** Runs one mutant until a checker objects. */
import { drawPlan } from "../profiles/all-profiles.ts";
import { runPlan } from "../run-plan.ts";
import { bundleMutant } from "./bundle-mutant.ts";
import { knownCatches } from "./known-catches.ts";
import { type Catch, isBroken, type Mutant } from "./mutant.ts";

/** Seeds that a mutant may survive. */
export const SEEDS_MAX = 500;

/** An assertion or a crash in the protocol does not count: a checker has to see the wrong. */
const NOT_A_CHECKER = "failure";

/** The first seed that shows it, if the true protocol is clean there. Starts with the one that last did. */
export async function firstCatch(mutant: Mutant): Promise<Catch | undefined> {
  const simulator = await bundleMutant(mutant);
  for (const seed of seedsOf(mutant)) {
    const profile = profileOf(mutant, seed);
    const { violation } = await simulator.runPlan(simulator.drawPlan(profile, seed));
    if (violation === undefined) continue;
    if (isBroken(violation.what))
      throw new Error(`mutant ${mutant.name} does not run: ${violation.what.slice(0, 200)}`);
    if (violation.checker === NOT_A_CHECKER) continue;
    const shipped = await runPlan(drawPlan(profile, seed));
    if (shipped.violation !== undefined) continue;
    return { by: `${violation.checker}, ${profile} seed ${seed}`, what: violation.what, seed };
  }
  return undefined;
}

const profileOf = ({ profiles }: Mutant, seed: number): string =>
  profiles[(seed - 1) % profiles.length] ?? "combined";

/** 1 to SEEDS_MAX, the one that caught it last time first. */
function seedsOf({ name }: Mutant): number[] {
  const all = Array.from({ length: SEEDS_MAX }, (_, index) => index + 1);
  const known = knownCatches[name];
  return known === undefined ? all : [known, ...all.filter((seed) => seed !== known)];
}
