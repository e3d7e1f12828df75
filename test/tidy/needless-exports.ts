/** What lib exports is imported somewhere, by a test at least: an export is a promise that somebody relies on. */
import { isNode, lineAt, parse, resolve, type SyntaxNode, stringOf, visit } from "./parse.ts";
import { isCode, isWithin, type SourceFile } from "./repository.ts";

interface Export {
  readonly name: string;
  /** Where the word `export` stands. */
  readonly start: number;
}

const ALL = "*";

export function needlessExports(files: readonly SourceFile[]): string[] {
  const code = files.filter(({ path }) => isCode(path));
  const used = new Map<string, Set<string>>();
  for (const file of code) noteUses(file, used);
  return code
    .filter(({ path }) => isWithin(path, "lib"))
    .flatMap((file) => {
      const names = used.get(file.path) ?? new Set();
      if (names.has(ALL)) return [];
      return exportsOf(file)
        .filter(({ name }) => !names.has(name))
        .map(
          ({ name, start }) => `${file.path}:${lineAt(file, start)}: nobody imports ${name}; keep it inside`,
        );
    });
}

/** Names by the file that they are taken from. */
function noteUses(file: SourceFile, used: Map<string, Set<string>>): void {
  visit(parse(file), (node) => {
    const specifier = stringOf(node.type === "TSImportType" ? (node.source ?? node.argument) : node.source);
    if (specifier === undefined || !specifier.startsWith(".")) return;
    const target = resolve(file.path, specifier);
    const names = used.get(target) ?? new Set();
    used.set(target, names);
    const specifiers = Array.isArray(node.specifiers) ? (node.specifiers as SyntaxNode[]) : [];
    const taken = specifiers.map((one) => nameOf(one.type === "ExportSpecifier" ? one.local : one.imported));
    const takesAll = !["ImportDeclaration", "ExportNamedDeclaration"].includes(node.type);
    for (const name of takesAll ? [ALL] : taken) names.add(name ?? ALL);
  });
}

function exportsOf(file: SourceFile): Export[] {
  const found: Export[] = [];
  visit(parse(file), (node) => {
    if (node.type !== "ExportNamedDeclaration" || isNode(node.source)) return;
    const { declaration } = node;
    const declared = isNode(declaration) ? declaration : undefined;
    const list = (declared?.declarations ?? [declared]) as readonly (SyntaxNode | undefined)[];
    for (const one of list) {
      const name = nameOf(one?.id);
      if (name !== undefined) found.push({ name, start: node.start });
    }
  });
  return found;
}

function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  return node.type === "Identifier" ? String(node.name) : stringOf(node);
}
