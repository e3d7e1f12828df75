/** How long a file, a function and a line may be, so that each can be read in one go. */
import { at, isNode, lineAt, parse, type SyntaxNode, visit } from "./parse.ts";
import { isCode, isProduct, isWithin, type SourceFile } from "./repository.ts";

const fileLinesMax = 400;
const functionLinesMax = 60;
const columnsMax = 110;
/** Story titles are sentences, and the formatter leaves strings whole. */
const testColumnsMax = 160;

export function fileLengths(files: readonly SourceFile[]): string[] {
  return lengths(files)
    .filter(({ lines }) => lines > fileLinesMax)
    .map(({ path, lines }) => `${path}: ${lines} lines, at most ${fileLinesMax}`);
}

/** The product's longest files, the longest first: for people to look at before one has to be cut. */
export function longestFiles(files: readonly SourceFile[], count: number): string[] {
  return lengths(files)
    .filter(({ path }) => isProduct(path))
    .sort((one, other) => other.lines - one.lines || (one.path < other.path ? -1 : 1))
    .slice(0, count)
    .map(({ path, lines }) => `${lines} lines: ${path}`);
}

function lengths(files: readonly SourceFile[]): { readonly path: string; readonly lines: number }[] {
  return files
    .filter(({ path }) => isCode(path) && (isProduct(path) || isWithin(path, "test")))
    .map((file) => ({ path: file.path, lines: linesOf(file).length }));
}

export function functionLengths(files: readonly SourceFile[]): string[] {
  const found: string[] = [];
  for (const file of files.filter((one) => isCode(one.path) && isProduct(one.path))) {
    visit(parse(file), (node, parent) => {
      if (!functions.has(node.type)) return;
      const lines = lineAt(file, node.end) - lineAt(file, node.start) + 1;
      if (lines <= functionLinesMax) return;
      found.push(
        `${at(file, node)}: ${nameOf(node, parent)} has ${lines} lines, at most ${functionLinesMax}`,
      );
    });
  }
  return found;
}

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

function nameOf(node: SyntaxNode, parent?: SyntaxNode): string {
  const named = [node.id, parent?.key, parent?.id].find(isNode);
  return named?.type === "Identifier" ? String(named.name) : "a function";
}

/** A line that carries a web address may be as long as it must. */
export function lineLengths(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isCode(file.path) || isWithin(file.path, ".ci"))
    .flatMap((file) =>
      linesOf(file)
        .map((line, index) => ({ columns: [...line].length, line, where: `${file.path}:${index + 1}` }))
        .filter(({ columns, line }) => columns > columnsMaxOf(file) && !/https?:\/\//.test(line))
        .map(({ columns, where }) => `${where}: ${columns} columns, at most ${columnsMaxOf(file)}`),
    );
}

function columnsMaxOf(file: SourceFile): number {
  return isWithin(file.path, "test") ? testColumnsMax : columnsMax;
}

function linesOf(file: SourceFile): string[] {
  return file.text.replace(/\n$/, "").split("\n");
}
