/** What files are called and how they export: by what they hold, one thing under one name. */
import { at, parse, visit } from "./parse.ts";
import { isCode, isProduct, isWithin, type SourceFile } from "./repository.ts";

/** Words that say nothing of what a file holds. */
const emptyWords = new Set("util utils helper helpers manager impl type types common misc".split(" "));

export function fileNames(files: readonly SourceFile[]): string[] {
  return files
    .map((file) => file.path)
    .filter((path) => isCode(path) && (isProduct(path) || isWithin(path, "test")))
    .flatMap((path) => {
      const elements = path.split("/").map((element) => element.split(".")[0] ?? "");
      const empty = elements.flatMap((element) => element.split("-")).filter((word) => emptyWords.has(word));
      const isKebab = elements.every((element) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(element));
      return [
        ...empty.map((word) => `${path}: "${word}" in a name says nothing; name what is in it`),
        ...(isKebab ? [] : [`${path}: names are lower case with hyphens`]),
      ];
    });
}

/** No default exports, and no file that only passes on what others export. */
export function exportShapes(files: readonly SourceFile[]): string[] {
  const found: string[] = [];
  for (const file of files.filter((one) => isCode(one.path) && isProduct(one.path))) {
    visit(parse(file), (node) => {
      if (node.type === "ExportDefaultDeclaration") found.push(`${at(file, node)}: default export`);
      if (node.type === "ExportAllDeclaration") found.push(`${at(file, node)}: exports all of another file`);
    });
  }
  return found;
}
