/** No paragraph of a document is so long that its reader loses the thread. */
import type { SourceFile } from "./repository.ts";

const wordsMax = 150;

/** A paragraph ends at a blank line, a heading, a block of code, a list item or a row of a table. */
export function paragraphLengths(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => file.path.endsWith(".md"))
    .flatMap((file) =>
      paragraphs(file.text)
        .map(({ line, text }) => ({ line, words: wordsOf(text) }))
        .filter(({ words }) => words > wordsMax)
        .map(({ line, words }) => `${file.path}:${line}: a paragraph of ${words} words, at most ${wordsMax}`),
    );
}

interface Paragraph {
  readonly line: number;
  readonly text: string;
}

function paragraphs(document: string): Paragraph[] {
  const found: Paragraph[] = [];
  let open: Paragraph | undefined;
  let isCode = false;
  for (const [index, line] of document.split("\n").entries()) {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence || isCode || line.trim() === "") open = undefined;
    else if (open === undefined || /^\s*(?:[-*+]\s|\d+\.\s|\||#)/.test(line)) {
      open = { line: index + 1, text: line };
      found.push(open);
    } else {
      found.pop();
      open = { line: open.line, text: `${open.text}\n${line}` };
      found.push(open);
    }
  }
  return found;
}

/** Words as a reader counts them: a path or a term in code is one. */
function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
