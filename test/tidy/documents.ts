/** What the documents and the package's scripts point at must exist. */
import { dirname, join } from "node:path/posix";
import { isWithin, type SourceFile } from "./repository.ts";

const fence = /^(```|~~~)[\s\S]*?^\1/gm;

/** Links between documents, with their headings; addresses on the web are not followed. */
export function documentLinks(files: readonly SourceFile[]): string[] {
  return documents(files).flatMap((file) => {
    const prose = file.text.replace(fence, "").replace(/`[^`\n]*`/g, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s*(\S+)/gm)];
    return links
      .map((link) => link[1] ?? link[2] ?? "")
      .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(files, file, target))
      .map((target) => `${file.path}: the link ${target} leads nowhere`);
  });
}

function leadsSomewhere(files: readonly SourceFile[], from: SourceFile, target: string): boolean {
  const [path = "", heading] = target.split("#");
  const there = path === "" ? from.path : join(dirname(from.path), path).replace(/\/$/, "");
  if (!exists(files, there)) return false;
  const document = files.find((file) => file.path === there);
  return heading === undefined || document === undefined || headingsOf(document).has(heading);
}

/** Anchors as code hosts derive them: lower case, no punctuation, hyphens for blanks, repeats numbered. */
function headingsOf(document: SourceFile): Set<string> {
  const anchors = new Set<string>();
  for (const [, title = ""] of document.text.replace(fence, "").matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const plain = title.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n += 1) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Paths into this repository that a document names in code, and the npm scripts that it names. */
export function documentPaths(files: readonly SourceFile[]): string[] {
  const scripts = scriptsOf(files);
  return documents(files).flatMap((file) => {
    const code = [...file.text.matchAll(fence), ...file.text.replace(fence, "").matchAll(/`[^`\n]*`/g)];
    return code.flatMap(([text]) => [
      ...pathsIn(text)
        .filter((path) => !exists(files, path))
        .map((path) => `${file.path}: names ${path}, which does not exist`),
      ...[...text.matchAll(/\bnpm run (?:--\S+ |-s )*([\w:-]+)/g)]
        .filter(([, script = ""]) => !(script in scripts))
        .map(([, script]) => `${file.path}: names npm run ${script}, which package.json does not have`),
    ]);
  });
}

/** Source files that a document names by the end of their path, such as `ledger/write-back.ts`. */
export function documentFileNames(files: readonly SourceFile[]): string[] {
  return documents(files).flatMap((document) =>
    [...document.text.matchAll(/(?<![\w./-])(?:\.\.\/)*([\w./-]+\.(?:ts|mjs))\b/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !files.some(({ path }) => path === name || path.endsWith(`/${name}`)))
      .map((name) => `${document.path}: names ${name}, which no path ends with`),
  );
}

const WHERE = "## Where is what";

/**
 * Rows of the architecture's table of places: a question, then symbols and files in code. Each file is there,
 * and each symbol, `Class.member` too, stands in one of the files of its row.
 */
export function whereIsWhat(files: readonly SourceFile[]): string[] {
  const document = files.find((file) => file.path === "docs/ARCHITECTURE.md")?.text ?? "";
  const [, section] = document.split(`${WHERE}\n`);
  if (section === undefined) return [`docs/ARCHITECTURE.md: has no heading "${WHERE}"`];
  const rows = (section.split(/^## /m)[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).flatMap((row) => {
    const [, question = "", ...cells] = row.split("|").map((cell) => cell.trim());
    if (/^-+$/.test(question)) return [];
    const named = [...cells.join(" ").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    const paths = named.filter((name) => name.includes("/"));
    const there = files.filter(({ path }) => paths.includes(path));
    const at = `docs/ARCHITECTURE.md: "${question}"`;
    return [
      ...(paths.length === 0 ? [`${at} names no file`] : []),
      ...paths.filter((path) => !there.some((file) => file.path === path)).map((path) => `${at}: no ${path}`),
      ...named
        .filter((name) => !name.includes("/") && !there.some((file) => declares(file.text, name)))
        .map((symbol) => `${at}: ${symbol} is not in ${paths.join(", ")}`),
    ];
  });
}

function declares(text: string, symbol: string): boolean {
  const [owner = "", member] = symbol.split(".");
  const declared = new RegExp(`\\b(?:function|class|const|interface|type)\\s+${owner}\\b`).test(text);
  if (member === undefined || !declared) return declared;
  return new RegExp(`^\\s+(?:static |async |readonly |get )*#?${member}\\b\\s*[(<=:?]`, "m").test(text);
}

/** A decision's file and heading have one number, which no other has, and the architecture lists it. */
export function decisionNumbers(files: readonly SourceFile[]): string[] {
  const architecture = files.find((file) => file.path === "docs/ARCHITECTURE.md")?.text ?? "";
  const numbers = new Set<number>();
  return files.flatMap(({ path, text }) => {
    const [, name = "", digits] = /^docs\/(adr\/(\d{4})-.*)$/.exec(path) ?? [];
    if (digits === undefined) return [];
    const number = Number(digits);
    const faults = [
      ...(numbers.has(number) ? [`${path}: another decision has this number`] : []),
      ...(text.startsWith(`# ${number}. `) ? [] : [`${path}: its heading has another number`]),
      ...(architecture.includes(`(${name})`) ? [] : [`${path}: docs/ARCHITECTURE.md does not list it`]),
    ];
    numbers.add(number);
    return faults;
  });
}

/** Files that a script starts or hands on. */
export function scriptPaths(files: readonly SourceFile[]): string[] {
  return Object.entries(scriptsOf(files)).flatMap(([script, command]) =>
    pathsIn(command)
      .filter((path) => !exists(files, path))
      .map((path) => `package.json: the script ${script} names ${path}, which does not exist`),
  );
}

/** Words that look like paths from the root. One with a placeholder in it is no path. */
function pathsIn(text: string): string[] {
  const words = text.split(/[\s`"'()[\],;|]+/).map((word) => word.replace(/^\.\/|[.:]+$/g, ""));
  const isPath = (word: string) => /^(?:lib|bin|functions|test|docs|\.ci)\/[\w./-]+$/.test(word);
  return words.filter(isPath).map((word) => word.replace(/\/$/, ""));
}

function exists(files: readonly SourceFile[], path: string): boolean {
  return path === "." || files.some((file) => isWithin(file.path, path));
}

function documents(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => file.path.endsWith(".md"));
}

function scriptsOf(files: readonly SourceFile[]): Readonly<Record<string, string>> {
  const text = files.find((file) => file.path === "package.json")?.text;
  return text === undefined ? {} : (JSON.parse(text).scripts ?? {});
}
