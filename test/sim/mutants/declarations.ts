/** Finds declarations in the product's sources by name, so that a mutant needs no path and no line. */
import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { isNode, parseWithoutParentheses, type SyntaxNode } from "../../tidy/parse.ts";
import type { SourceFile } from "../../tidy/repository.ts";

/** A top-level function, class or constant, or a member of a class, with every node that has this name. */
export interface Declaration {
  /** `name`, or `Class.member`. */
  readonly name: string;
  readonly file: SourceFile;
  /** More than one for a getter and its setter. */
  readonly nodes: readonly SyntaxNode[];
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

export class Declarations {
  /** By name; those of one name are in different files. */
  readonly #found = new Map<string, Declaration[]>();
  readonly #files = new Map<string, SourceFile>();

  constructor(files: readonly SourceFile[]) {
    for (const file of files) {
      this.#files.set(file.path, file);
      for (const declaration of declarationsOf(file)) {
        const { name } = declaration;
        this.#found.set(name, [...(this.#found.get(name) ?? []), declaration]);
      }
    }
  }

  /** Of all files whose path ends so. */
  named(name: string, fileEnd = ""): readonly Declaration[] {
    return (this.#found.get(name) ?? []).filter(({ file }) => file.path.endsWith(fileEnd));
  }

  file(path: string): SourceFile | undefined {
    return this.#files.get(path);
  }

  all(): readonly Declaration[] {
    return [...this.#found.values()].flat();
  }
}

/** What a mutant may change: lib, and the simulator's own ports. */
export function readSources(): SourceFile[] {
  const inLib = readdirSync(`${root}lib`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `lib/${path}`);
  const paths = [...inLib, "test/sim/function-ports.ts"];
  return paths.map((path) => ({ path, text: readFileSync(`${root}${path}`, "utf8") }));
}

function declarationsOf(file: SourceFile): Declaration[] {
  const nodes = new Map<string, SyntaxNode[]>();
  const add = (name: string, node: SyntaxNode) => nodes.set(name, [...(nodes.get(name) ?? []), node]);
  for (const statement of parseWithoutParentheses(file.path, file.text).body as SyntaxNode[]) {
    const declared = isNode(statement.declaration) ? statement.declaration : statement;
    for (const [name, node] of declaredBy(declared)) add(name, node);
  }
  return [...nodes].map(([name, found]) => ({ name, file, nodes: found }));
}

function declaredBy(node: SyntaxNode): [string, SyntaxNode][] {
  if (node.type === "VariableDeclaration")
    return (node.declarations as SyntaxNode[]).map((one) => [nameOf(one.id), one]);
  if (node.type === "FunctionDeclaration") return [[nameOf(node.id), node]];
  if (node.type !== "ClassDeclaration") return [];
  const className = nameOf(node.id);
  const members = (node.body as SyntaxNode).body as SyntaxNode[];
  return [
    [className, node],
    ...members.map((member): [string, SyntaxNode] => [`${className}.${nameOf(member.key)}`, member]),
  ];
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "PrivateIdentifier") return `#${node.name}`;
  return typeof node.name === "string" ? node.name : "";
}

/** The specifier with which one file imports from another. */
export function specifierOf(from: string, to: string): string {
  const path = relative(from.slice(0, from.lastIndexOf("/")), to);
  return path.startsWith(".") ? path : `./${path}`;
}
