/**
 * Syntax trees of the sources, from the parser that Vite exports (oxc, which reads TypeScript). The rules
 * walk them by node type and never guess from text what is code, comment or string.
 */
import { dirname, join } from "node:path/posix";
import { parseSync } from "vite";
import type { SourceFile } from "./repository.ts";

export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Import {
  readonly specifier: string;
  /** Only types travel: nothing is loaded because of it. */
  readonly typesOnly: boolean;
  readonly line: number;
}

const parsed = new WeakMap<SourceFile, SyntaxNode>();

/** The file's syntax tree. Throws if it does not parse: a rule must not pass over what it cannot read. */
export function parse(file: SourceFile): SyntaxNode {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const program = parseText(file.path, file.text);
  parsed.set(file, program);
  return program;
}

/** A tree in which parentheses leave no trace but the order that they bring about. Throws as `parse` does. */
export function parseWithoutParentheses(path: string, text: string): SyntaxNode {
  return parseText(path, text, { preserveParens: false });
}

function parseText(path: string, text: string, options?: Parameters<typeof parseSync>[2]): SyntaxNode {
  const { errors, program } = parseSync(path, text, options);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`);
  return program as unknown as SyntaxNode;
}

/** Visits every node, parents first. */
export function visit(node: SyntaxNode, see: (node: SyntaxNode, parent?: SyntaxNode) => void): void {
  const enter = (value: unknown, parent?: SyntaxNode): void => {
    if (Array.isArray(value)) for (const one of value) enter(one, parent);
    else if (isNode(value)) {
      see(value, parent);
      for (const field of Object.values(value)) enter(field, value);
    }
  };
  enter(node);
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as SyntaxNode).type === "string";
}

/** The text of a string literal, or of a template without expressions. */
export function stringOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "Literal" && typeof value.value === "string") return value.value;
  if (value.type !== "TemplateLiteral") return undefined;
  const [only, ...more] = value.quasis as { value: { cooked: string } }[];
  return more.length === 0 ? only?.value.cooked : undefined;
}

/** Imports, re-exports, dynamic imports and import types, in the order of the file. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  visit(parse(file), (node) => {
    const specifier = stringOf(node.source);
    if (specifier === undefined || !importing.has(node.type)) return;
    found.push({ specifier, typesOnly: isTypesOnly(node), line: lineAt(file, node.start) });
  });
  return found;
}

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

function isTypesOnly(node: SyntaxNode): boolean {
  return node.type === "TSImportType" || node.importKind === "type" || node.exportKind === "type";
}

/** Where a relative specifier points, from the repository's root. */
export function resolve(from: string, specifier: string): string {
  return join(dirname(from), specifier);
}

/** Counted from 1. */
export function lineAt(file: SourceFile, offset: number): number {
  return file.text.slice(0, offset).split("\n").length;
}

export function at(file: SourceFile, node: SyntaxNode): string {
  return `${file.path}:${lineAt(file, node.start)}`;
}
