/** Bundles the simulator with a mutant's words in place of the shipped ones, and loads the result. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Plan } from "../plan.ts";
import type { RunOptions, RunResult } from "../run-plan.ts";
import type { Mutant, Patch } from "./mutant.ts";

export interface MutantSimulator {
  drawPlan(profile: string, seed: number): Plan;
  runPlan(plan: Plan, options?: RunOptions): Promise<RunResult>;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

export async function bundleMutant(mutant: Mutant): Promise<MutantSimulator> {
  const bundle = await build({
    stdin: {
      contents: `export { runPlan } from "./run-plan.ts"; export { drawPlan } from "./profiles/all-profiles.ts";`,
      resolveDir: `${root}test/sim`,
    },
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "esm",
    plugins: [substitution(mutant)],
  });
  const code = bundle.outputFiles[0]?.contents ?? new Uint8Array();
  return await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}

function substitution(mutant: Mutant): Plugin {
  return {
    name: mutant.name,
    setup({ onLoad }) {
      for (const file of new Set(mutant.patches.map((patch) => patch.file))) {
        const filter = new RegExp(`${file.replaceAll(".", "\\.")}$`);
        onLoad({ filter }, async () => ({ contents: await patchedSource(mutant, file), loader: "ts" }));
      }
    },
  };
}

/** The file with the mutant's words in it. Throws if the text that they replace is not there exactly once. */
export async function patchedSource(mutant: Mutant, file: string): Promise<string> {
  let source = await readFile(`${root}${file}`, "utf8");
  for (const patch of mutant.patches.filter((one) => one.file === file))
    source = applied(source, patch, mutant);
  return source;
}

function applied(source: string, { file, from, to }: Patch, mutant: Mutant): string {
  const found = source.split(from).length - 1;
  if (found !== 1) throw new Error(`mutant ${mutant.name}: ${file} holds ${found} times, not once: ${from}`);
  return source.replace(from, () => to);
}
