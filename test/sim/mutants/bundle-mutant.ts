/** Bundles the simulator with a mutant's words in place of the shipped ones, and loads the result. */
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Plan } from "../plan.ts";
import type { RunOptions, RunResult } from "../run-plan.ts";
import { applyMutant } from "./apply-mutant.ts";
import type { Mutant } from "./mutant.ts";

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
      for (const [file, contents] of applyMutant(mutant)) {
        const filter = new RegExp(`/${file.replaceAll(".", "\\.")}$`);
        onLoad({ filter }, () => ({ contents, loader: "ts" }));
      }
    },
  };
}
