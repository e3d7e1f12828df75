/** What no tracked text may say. The words looked for are broken by a hyphen here, so as not to be found. */
import { isWithin, type SourceFile } from "./repository.ts";

/** Written by machines, or by the licence's authors. */
const notOurWords = new Set(["package-lock.json", "LICENSE"]);

/** Paths of one machine or one person. */
export function machinePaths(files: readonly SourceFile[]): string[] {
  return search(files, /(?<![\w.-])\/(?:work|root|home)\/|\b[A-Z]:\\+Users\b/g, "a path of one machine");
}

/** Marks of unfinished work. What is missing belongs in the tracker. */
export function unfinishedMarks(files: readonly SourceFile[]): string[] {
  const marks = ["FIX-ME", "TO-DO", "XX-X"].map(join).join("|");
  return search(files, new RegExp(`\\b(?:${marks})\\b`, "g"), "a mark of unfinished work");
}

/** The repository speaks of the product, not of how it came about. */
export function foreignWords(files: readonly SourceFile[]): string[] {
  const anyCase = ["a-gent", "suba-gent", "l-lm", "cl-aude", "g-pt", "chatg-pt", "anthr-opic", "pro-mpt"];
  const words = `\\b(?:${anyCase.map(join).join("|")})s?\\b`;
  // Node's name for what keeps connections, and for the option of a request that takes one.
  const legitimate = /user[- ]a[g]ent|\bhttps?\.A[g]ent\b|\ba[g]ent: (?:tunnels|false)\b/gi;
  return [
    ...search(files, new RegExp(words, "gi"), "a word that is not about the product", legitimate),
    ...search(files, new RegExp(`\\b${join("A-I")}\\b`, "g"), "a word that is not about the product"),
    ...search(files, /\bissues?:? #?\d+\b|\bseed 0\d\d\b/gi, "a reference to texts outside"),
  ];
}

function join(broken: string): string {
  return broken.replace("-", "");
}

function search(files: readonly SourceFile[], what: RegExp, why: string, except?: RegExp): string[] {
  return files
    .filter((file) => !notOurWords.has(file.path) && !isWithin(file.path, "node_modules"))
    .flatMap((file) =>
      file.text.split("\n").flatMap((line, index) => {
        const searched = except === undefined ? line : line.replace(except, "");
        return [...searched.matchAll(what)].map(
          ([found]) => `${file.path}:${index + 1}: "${found}" is ${why}`,
        );
      }),
    );
}
