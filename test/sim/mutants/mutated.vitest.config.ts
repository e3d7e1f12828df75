/** Tests of a wrong version: vitest with the words of the mutant that the environment names. */
import { fileURLToPath } from "node:url";
import { mergeConfig } from "vitest/config";
import shipped from "../../../vitest.config.ts";
import { applyMutant } from "./apply-mutant.ts";
import { testedMutants } from "./tested-mutants.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const mutant = testedMutants.find(({ name }) => name === process.env.FENCELINE_MUTANT);
if (mutant === undefined) throw new Error(`no tested mutant ${process.env.FENCELINE_MUTANT}`);
const sources = applyMutant(mutant);

export default mergeConfig(shipped, {
  root,
  plugins: [
    {
      name: mutant.name,
      enforce: "pre" as const,
      load: (id: string) => sources.get(id.replace(root, "")),
    },
  ],
});
