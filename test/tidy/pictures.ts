/**
 * Pictures where English has a term: a reader who learnt the language at school has to guess what they mean.
 * None may stand in documents, nor in comments of code.
 */
import { isCode, type SourceFile } from "./repository.ts";

/** What may not be said, and what to say instead. */
const pictures: readonly (readonly [said: RegExp, instead: string])[] = [
  [/\b(?:tells?|told|telling)(?: \S+){0,3} apart\b/gi, "distinguishes"],
  [/\b(?:is|are|was|were|be|been|being) told\b(?!(?: \S+){0,3} apart\b)/gi, "gets, returns, throws"],
  [
    /(?<!\b(?:is|are|was|were|be|been|being) )\b(?:tells?|told)\b(?!(?: \S+){0,3} apart\b)/gi,
    "says, reports",
  ],
  [/\bwhoever\b/gi, "the caller, the process, the reader"],
  [/\blet(?:s|ting)? go of\b/gi, "releases"],
  [/\bby and by\b/gi, "eventually"],
  [/\bunawares?\b/gi, "without knowing it"],
  [/\bnobody (?:waits|is waiting)\b/gi, "cancelled"],
  [/\blays? down\b|\blaying down\b/gi, "releases"],
  [/(?:^|(?<=[.:;|*] ))who (?![^.?]*\?)/gi, "name the subject: the caller, the process, the reader"],
];

/** No document may have one; what stands in code is a name. */
export function picturesInDocuments(files: readonly SourceFile[]): string[] {
  return files.filter((file) => file.path.endsWith(".md")).flatMap((file) => found(file, proseOf));
}

/** Where comments of code have one. */
export function picturesInComments(files: readonly SourceFile[]): string[] {
  return files.filter((file) => isCode(file.path)).flatMap((file) => found(file, commentsOf));
}

function found(file: SourceFile, textOf: (text: string) => string): string[] {
  return textOf(file.text)
    .split("\n")
    .flatMap((line, index) =>
      pictures.flatMap(([said, instead]) =>
        [...line.matchAll(said)].map(
          ([words]) => `${file.path}:${index + 1}: "${words.trim()}" is a picture; say ${instead}`,
        ),
      ),
    );
}

/** The text with blanks for what is code, so that lines keep their numbers. */
function proseOf(document: string): string {
  return document.replace(/^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm, blank);
}

/** The comments alone, each on its line. A slash in a string or a pattern may look like one; it says little. */
function commentsOf(code: string): string {
  let rest = "";
  let end = 0;
  for (const comment of code.matchAll(/\/\*[\s\S]*?\*\/|(?<![:"'`\\/])\/\/(?!\/)[^\n]*/g)) {
    rest += blank(code.slice(end, comment.index)) + comment[0].replace(/^\s*\*(?=\s)/gm, " ");
    end = comment.index + comment[0].length;
  }
  return rest.replace(/`[^`\n]*`/g, blank);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
