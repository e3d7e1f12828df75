/** Says which mutants no longer find what they change, or do not compile. Runs nothing. */
import { everyVersion } from "./all-mutants.ts";
import { applyMutant, type ChangedSources } from "./apply-mutant.ts";
import { mutantsThatDoNotCompile } from "./compile-mutants.ts";
import type { WrongVersion } from "./mutant.ts";

/** What each mutant that applies changes, by its name, and one text for each that does not. */
function applied(mutants: readonly WrongVersion[]) {
  const sources = new Map<string, ChangedSources>();
  const faults: string[] = [];
  for (const mutant of mutants) {
    try {
      sources.set(mutant.name, applyMutant(mutant));
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { sources, faults };
}

/** One text for each mutant that does not apply, with what was found in its place. */
export const mutantsThatDoNotApply = (mutants: readonly WrongVersion[]): string[] => applied(mutants).faults;

/** The exit code: 0 if each of them applies and compiles. */
export async function checkMutants(say: (line: string) => void, mutants = everyVersion): Promise<number> {
  const { sources, faults } = applied(mutants);
  faults.push(...(await mutantsThatDoNotCompile(sources)));
  for (const fault of faults) say(`${fault}\n`);
  say(`${mutants.length - faults.length} of ${mutants.length} mutants apply and compile`);
  return faults.length === 0 ? 0 : 1;
}
