/**
 * Labels of invariants: a line of a file's header comment begins with one, `LW1` for the first invariant of
 * LogWriter, and comments, asserts, titles of tests and documents cite it by the same text.
 *
 * Run as a command it lists what does not follow the rules: node --import tsx test/tidy/labels.ts
 */
import { fileURLToPath } from "node:url";
import { isCode, readRepository, type SourceFile } from "./repository.ts";

interface Definition {
  readonly label: string;
  readonly where: string;
}

/** The same text is one number; a letter behind it, as in a card's `H05b`, makes it no label. */
const CITATION = /(?<![\w$#%/.-])[A-Z]{2,3}\d{1,2}(?![\w$-])/g;

/** Numbers of the outside world in the shape of a label. */
const otherNumbers = new Set(["EC2", "MD5", "UTF8", "UTF16", "BASE64", "SHA1"]);

function definitionsOf(files: readonly SourceFile[]): Definition[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap(({ path, text }) => {
      const [header = ""] = /^(?:#![^\n]*\n)?\s*\/\*\*[\s\S]*?\*\//.exec(text) ?? [];
      return header.split("\n").flatMap((line, index) => {
        const label = /^ \* ([A-Z]{1,3}\d{1,2}) \S/.exec(line)?.[1];
        return label === undefined || isStory(label) ? [] : [{ label, where: `${path}:${index + 1}` }];
      });
    });
}

/** S01, T16, U03: stories of the protocol's rules, H05: a card; they are numbered in the documents. */
const isStory = (label: string) => /^[HSTU]\d\d$/.test(label);

/** Every label is defined once, and is two or three capitals and a number. */
export function labelDefinitions(files: readonly SourceFile[]): string[] {
  const first = new Map<string, string>();
  return definitionsOf(files).flatMap(({ label, where }) => {
    const before = first.get(label);
    first.set(label, before ?? where);
    return [
      ...(/^[A-Z]\d/.test(label) ? [`${where}: ${label} has one capital; two or three name its file`] : []),
      ...(before === undefined ? [] : [`${where}: ${label} is defined in ${before} already`]),
    ];
  });
}

/** Whatever is cited is defined. */
export function labelCitations(files: readonly SourceFile[]): string[] {
  const defined = new Set(definitionsOf(files).map(({ label }) => label));
  return linesOf(files).flatMap(({ line, where }) =>
    [...line.matchAll(CITATION)]
      .map(([label]) => label)
      .filter((label) => !defined.has(label) && !otherNumbers.has(label))
      .map((label) => `${where}: ${label} is defined nowhere`),
  );
}

/** Documents that are not in the repository: a reader cannot look them up. */
export function foreignDocuments(files: readonly SourceFile[]): string[] {
  const numbered = /(?<!\b(?:RFC|ISO|IEEE) [\d-]+,? )\bsections? \d/i;
  const named = /\b(?:design|protocol|house|placement|reference)\.md\b/;
  return linesOf(files)
    .filter(({ line }) => numbered.test(line) || named.test(line))
    .map(({ where }) => `${where}: cites a document that is not in the repository`);
}

function linesOf(files: readonly SourceFile[]): { readonly line: string; readonly where: string }[] {
  return files
    .filter(({ path }) => (isCode(path) || path.endsWith(".md")) && !/^test\/tidy\/labels/.test(path))
    .flatMap(({ path, text }) =>
      text.split("\n").map((line, index) => ({ line, where: `${path}:${index + 1}` })),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = readRepository(fileURLToPath(new URL("../..", import.meta.url)));
  const found = [labelDefinitions, labelCitations, foreignDocuments].flatMap((rule) => rule(files));
  process.stdout.write(`${[...found, `${found.length} in all`].join("\n")}\n`);
}
