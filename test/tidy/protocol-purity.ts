/**
 * The protocol cannot see the world: whatever reads the time, draws lots, waits, or depends on the host or
 * its language stays out of lib/protocol, as a name of any kind. The compiler refuses most of it too; what
 * ECMAScript itself brings along (Date, Math.random, the locale) only this rule refuses.
 */
import { at, isNode, parse, type SyntaxNode, stringOf, visit } from "./parse.ts";
import { isCode, isWithin, type SourceFile } from "./repository.ts";

const worldly = new Set([
  ...["Date", "performance", "Intl", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"],
  ...["process", "console", "crypto", "Buffer", "fetch", "globalThis", "TextEncoder", "TextDecoder"],
  ...["structuredClone", "WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer", "eval"],
  ...["localeCompare", "toLocaleString", "toLocaleLowerCase", "toLocaleUpperCase"],
]);

export function protocolPurity(files: readonly SourceFile[]): string[] {
  return inspect(files, (file) => isWithin(file.path, "lib/protocol"), worldlyName);
}

/** Only the command line talks to the terminal; everything else traces through a port or throws. */
export function silentLibrary(files: readonly SourceFile[]): string[] {
  const isQuiet = (file: SourceFile) => isWithin(file.path, "lib") && !isWithin(file.path, "lib/cli");
  return inspect(files, isQuiet, (node) => (nameOf(node) === "console" ? "console" : undefined));
}

function inspect(
  files: readonly SourceFile[],
  concerns: (file: SourceFile) => boolean,
  offence: (node: SyntaxNode, parent?: SyntaxNode) => string | undefined,
): string[] {
  const found: string[] = [];
  for (const file of files.filter((one) => isCode(one.path) && concerns(one))) {
    visit(parse(file), (node, parent) => {
      const name = offence(node, parent);
      if (name !== undefined) found.push(`${at(file, node)}: ${name} has no place here`);
    });
  }
  return found;
}

function worldlyName(node: SyntaxNode, parent?: SyntaxNode): string | undefined {
  const name = nameOf(node);
  if (name !== undefined && worldly.has(name)) return name;
  return name === "Math" && !isHarmlessMath(node, parent) ? "Math.random" : undefined;
}

/** `Math.name` with another name than random. Math handed around, or read by a computed name, is suspect. */
function isHarmlessMath(node: SyntaxNode, parent?: SyntaxNode): boolean {
  if (parent?.type !== "MemberExpression" || parent.object !== node) return false;
  const property = parent.property;
  const member = parent.computed === true ? stringOf(property) : isNode(property) && nameOf(property);
  return typeof member === "string" && member !== "random";
}

function nameOf(node: SyntaxNode): string | undefined {
  return node.type === "Identifier" ? String(node.name) : undefined;
}
