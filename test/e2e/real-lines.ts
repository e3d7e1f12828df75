/** Lines that nobody made up, the same on every run. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WORDS = "/usr/share/dict/words";
const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/**
 * The machine's word list, then the declaration files of the packages in node_modules: no line
 * made up. Throws if there are fewer.
 */
export async function realLines(wanted: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let count = 0;
  const names = (await readdir(PACKAGES, { recursive: true })).sort();
  for (const path of [WORDS, ...names.filter(isDeclaration).map((name) => join(PACKAGES, name))]) {
    const text = await readFile(path).catch(() => Buffer.of());
    const lines = text
      .toString("latin1")
      .split("\n")
      .slice(0, -1)
      .slice(0, wanted - count);
    count += lines.length;
    chunks.push(Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1"));
    if (count === wanted) return Buffer.concat(chunks);
  }
  throw new Error(`only ${count} lines were found in ${WORDS} and ${PACKAGES}; ${wanted} are needed`);
}

const isDeclaration = (name: string) => /\.d\.[cm]?ts$/.test(name);
