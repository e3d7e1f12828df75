/**
 * Says which mutants do not compile: their words would fail as no protocol does, whatever they break. All of
 * them are compiled at once, outside of the checkout, since other processes read the sources meanwhile.
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChangedSources } from "./apply-mutant.ts";
import { specifierOf } from "./declarations.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A mutant may well leave behind what the shipped code uses. */
const TSCONFIG = {
  extends: `${root}tsconfig.json`,
  compilerOptions: {
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
  },
};

/** One text for each mutant that does not compile, with the compiler's words. */
export async function mutantsThatDoNotCompile(mutants: ReadonlyMap<string, ChangedSources>) {
  const folder = await mkdtemp(join(tmpdir(), "fenceline-mutants-"));
  try {
    for (const copied of ["lib", "test"]) {
      await cp(join(root, copied), join(folder, copied), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const names = [...mutants.keys()];
    const files: string[] = [];
    for (const [index, sources] of [...mutants.values()].entries()) {
      for (const [file, text] of sources) {
        files.push(besideOf(file, index));
        await writeFile(join(folder, besideOf(file, index)), withOwnImports(text, file, sources, index));
      }
    }
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ ...TSCONFIG, include: [], files }));
    return refused(names, await compiled(folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Where a mutant's words stand, beside the shipped ones that the other mutants need. */
const besideOf = (file: string, index: number) => file.replace(/\.ts$/, `.mutant-${index}.ts`);

/** What a mutant changes in several files fits together, but not with what is shipped. */
function withOwnImports(text: string, file: string, sources: ChangedSources, index: number): string {
  let imported = text;
  for (const other of sources.keys())
    imported = imported.replaceAll(
      `"${specifierOf(file, other)}"`,
      `"${specifierOf(file, besideOf(other, index))}"`,
    );
  return imported;
}

/** The compiler's lines, each with what continues it. */
async function compiled(folder: string): Promise<string[]> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const output = await new Promise<string>((resolve) => {
    // It ends with 2 if anything does not compile.
    execFile(
      process.execPath,
      [tsc, "-p", folder, "--pretty", "false"],
      { cwd: folder, maxBuffer: 1 << 26 },
      (_, stdout) => resolve(stdout),
    );
  });
  return output.split(/\n(?! )/).filter((line) => line !== "");
}

function refused(names: readonly string[], errors: readonly string[]): string[] {
  const said = new Map<string, string[]>();
  for (const error of errors) {
    const [, index] = /^\S+\.mutant-(\d+)\.ts\(/.exec(error) ?? [];
    const name = index === undefined ? undefined : names[Number(index)];
    if (name === undefined) throw new Error(`the shipped code does not compile: ${error}`);
    said.set(name, [...(said.get(name) ?? []), error]);
  }
  return [...said].map(([name, lines]) => `mutant ${name} does not compile:\n${lines.join("\n")}`);
}
