/** Says which mutants no longer find what they change. Runs nothing. */
import { everyVersion } from "./all-mutants.ts";
import { applyMutant } from "./apply-mutant.ts";
import type { WrongVersion } from "./mutant.ts";

/** One text for each mutant that does not apply, with what was found in its place. */
export function mutantsThatDoNotApply(mutants: readonly WrongVersion[]): string[] {
  return mutants.flatMap((mutant) => {
    try {
      applyMutant(mutant);
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
}

/** The exit code: 0 if each of them applies. */
export function checkMutants(say: (line: string) => void, mutants = everyVersion): number {
  const faults = mutantsThatDoNotApply(mutants);
  for (const fault of faults) say(`${fault}\n`);
  say(`${mutants.length - faults.length} of ${mutants.length} mutants apply`);
  return faults.length === 0 ? 0 : 1;
}
