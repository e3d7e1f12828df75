/**
 * No dead files. The product starts in bin and functions; what cannot be reached from there by imports is
 * dead, or serves tests alone and then needs a reason in the list below. Files under test that are no tests
 * must serve one, or be a script's start.
 */
import { importsOf, parse, resolve, stringOf, visit } from "./parse.ts";
import { isCode, isWithin, type SourceFile } from "./repository.ts";

/** Paths under lib that only tests reach, each with the reason why it stays. */
export type TestOnly = Readonly<Record<string, string>>;

export function deadFiles(files: readonly SourceFile[], testOnly: TestOnly): string[] {
  const code = new Map(files.filter((file) => isCode(file.path)).map((file) => [file.path, file]));
  const paths = [...code.keys()];
  const roots = paths.filter((path) => isWithin(path, "bin") || isWithin(path, "functions"));
  const entries = Object.keys(testOnly);
  const product = reach(code, roots);
  const excused = reach(code, [...product, ...entries.filter((path) => code.has(path))]);
  const started = paths.filter((path) => path.endsWith(".test.ts") || path === "vitest.config.ts");
  const tests = reach(code, [...started, ...namedByScripts(files)]);
  const inLib = paths.filter((path) => isWithin(path, "lib"));
  const support = paths.filter((path) => isWithin(path, "test") && !tests.has(path));
  return [
    ...inLib.filter((path) => !excused.has(path)).map((path) => `${path}: ${verdict(tests.has(path))}`),
    ...support.map((path) => `${path}: no test and no script needs it`),
    ...entries.flatMap((path) => needless(path, code, product, tests)),
    ...entries.filter((path) => !testOnly[path]?.trim()).map((path) => `${path}: listed without a reason`),
  ];
}

function verdict(servesTests: boolean): string {
  return servesTests ? "only tests reach it, nothing in bin or functions does" : "nothing reaches it";
}

/** An entry must be exact: there, not reached by the product anyway, and needed by a test. */
function needless(
  path: string,
  code: ReadonlyMap<string, SourceFile>,
  product: ReadonlySet<string>,
  tests: ReadonlySet<string>,
): string[] {
  if (!code.has(path)) return [`${path}: listed for tests alone, but there is no such file`];
  if (product.has(path)) return [`${path}: listed for tests alone, but the product reaches it; take it off`];
  return tests.has(path) ? [] : [`${path}: listed for tests alone, but no test reaches it; delete both`];
}

function reach(code: ReadonlyMap<string, SourceFile>, roots: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  const ahead = [...roots];
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    const file = code.get(path);
    if (file === undefined || reached.has(path)) continue;
    reached.add(path);
    ahead.push(...neighbours(file));
  }
  return reached;
}

/** Imported files, and files that are started or read by a relative path: `new URL("./child.ts", ...)`. */
function neighbours(file: SourceFile): string[] {
  const found = importsOf(file).map(({ specifier }) => specifier);
  visit(parse(file), (node) => {
    const text = stringOf(node);
    if (text !== undefined && /\.(ts|mjs)$/.test(text)) found.push(text);
  });
  return found.flatMap((text) => {
    if (text.startsWith(".")) return [resolve(file.path, text)];
    return isWithin(file.path, "test") && isWithin(text, "test") ? [text] : [];
  });
}

/** What package.json's scripts and .ci/run start. */
function namedByScripts(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => file.path === "package.json" || isWithin(file.path, ".ci"))
    .flatMap((file) => file.text.match(/\btest\/[\w./-]+\.(ts|mjs)\b/g) ?? []);
}
