/** The files that make up the repository, read once; what every tidy rule looks at. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A rule looks at all files and says what is wrong, one line per finding. */
export type Rule = (files: readonly SourceFile[]) => string[];

const notOurs = new Set([".git", "node_modules", "dist", "cdk.out", "coverage", ".fenceline"]);

/** Every text file that is tracked or could be added. Outside a git checkout, all that is not built. */
export function readRepository(root: string): SourceFile[] {
  return pathsOf(root)
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
    .filter((file) => !file.text.includes("\0"));
}

function pathsOf(root: string): string[] {
  if (!existsSync(join(root, ".git"))) return walk(root, root);
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", ["-c", `safe.directory=${root}`, ...args], {
    cwd: root,
    env: ownEnvironment(),
    encoding: "utf8",
  });
  return listed.split("\0").filter((path) => path !== "");
}

/** Ours without what a git hook would say to git about another repository. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
}

function walk(root: string, folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(root, path);
      return entry.isFile() ? [relative(root, path).split(sep).join("/")] : [];
    });
}

export function isCode(path: string): boolean {
  return /\.(ts|mts|mjs|js)$/.test(path);
}

/** Whether the path is the folder or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

export function isProduct(path: string): boolean {
  return ["lib", "bin", "functions"].some((folder) => isWithin(path, folder));
}
