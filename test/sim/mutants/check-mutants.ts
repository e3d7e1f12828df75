/** Says which mutants no longer find what they change. Runs nothing. */
import { allMutants } from "./all-mutants.ts";
import { applyMutant } from "./apply-mutant.ts";

/** One text for each mutant that does not apply, with what was found in its place. */
export function mutantsThatDoNotApply(): string[] {
  return allMutants.flatMap((mutant) => {
    try {
      applyMutant(mutant);
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
}

/** The exit code: 0 if each of them applies. */
export function checkMutants(say: (line: string) => void): number {
  const faults = mutantsThatDoNotApply();
  for (const fault of faults) say(`${fault}\n`);
  say(`${allMutants.length - faults.length} of ${allMutants.length} mutants apply`);
  return faults.length === 0 ? 0 : 1;
}
