/** Finds a piece of code inside a syntax tree, whatever its layout. */
import { isNode, parseWithoutParentheses, type SyntaxNode } from "../../tidy/parse.ts";

/** A piece of code: nodes that stand one after the other, and how they were read. */
export interface Fragment {
  readonly kind: "expression" | "statements" | "members" | "properties" | "parameters";
  readonly nodes: readonly SyntaxNode[];
}

/** Where nodes in a row stand in a text. */
export interface Place {
  readonly start: number;
  readonly end: number;
  /** Whether it stands in a list, where one can become none or many. */
  readonly inList: boolean;
}

/** What surrounds the piece so that it can be parsed, and the way down to it. */
const readings: readonly [Fragment["kind"], string, string, (program: SyntaxNode) => unknown][] = [
  ["expression", "async () => (\n", "\n)", (program) => [below(program, "body", 0, "expression", "body")]],
  [
    "statements",
    "async () => {\n",
    "\n}",
    (program) => below(program, "body", 0, "expression", "body", "body"),
  ],
  ["members", "class C {\n", "\n}", (program) => below(program, "body", 0, "body", "body")],
  [
    "properties",
    "async () => ({\n",
    "\n})",
    (program) => below(program, "body", 0, "expression", "body", "properties"),
  ],
  ["parameters", "async (\n", "\n) => {}", (program) => below(program, "body", 0, "expression", "params")],
];

function below(node: unknown, ...way: (string | number)[]): unknown {
  return way.reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], node);
}

/** Each way to read the text, most likely first; none if it is no code. */
export function fragmentsOf(text: string): Fragment[] {
  return readings.flatMap(([kind, before, after, down]) => {
    try {
      const found = down(parseWithoutParentheses("piece.ts", before + text + after));
      const nodes = (Array.isArray(found) ? found : [found]).filter(isNode);
      return nodes.length === 0 ? [] : [{ kind, nodes }];
    } catch {
      return [];
    }
  });
}

/** Everywhere below `root` where the fragment stands. */
export function placesOf({ nodes }: Fragment, root: SyntaxNode): Place[] {
  const wanted = nodes.map(shapeOf);
  const types = nodes.map(({ type }) => type);
  const found: Place[] = [];
  const isRun = (run: readonly SyntaxNode[]) =>
    run.length === wanted.length &&
    run.every((node, index) => node.type === types[index]) &&
    run.every((node, index) => shapeOf(node) === wanted[index]);
  forEachRow(root, (row, inList) => {
    for (let from = 0; from + wanted.length <= row.length; from++) {
      const run = row.slice(from, from + wanted.length);
      if (isRun(run)) found.push({ ...span(run), inList });
    }
  });
  return withoutTwins(found);
}

/** Visits every list of nodes below a node, and every single one as a list of its own. */
export function forEachRow(
  root: SyntaxNode,
  see: (row: readonly SyntaxNode[], inList: boolean, owner: SyntaxNode | undefined) => void,
): void {
  const enter = (node: SyntaxNode) => {
    for (const value of Object.values(node)) {
      if (isNode(value)) {
        see([value], false, node);
        enter(value);
      } else if (Array.isArray(value)) {
        const row = value.filter(isNode);
        if (row.length > 0) see(row, true, node);
        for (const one of row) enter(one);
      }
    }
  };
  see([root], false, undefined);
  enter(root);
}

export function span(run: readonly SyntaxNode[]): { start: number; end: number } {
  return { start: run[0]?.start ?? 0, end: run.at(-1)?.end ?? 0 };
}

/** `{ a }` holds `a` twice in one place, as key and as value. */
function withoutTwins(places: readonly Place[]): Place[] {
  const known = new Set<string>();
  return places.filter(({ start, end }) => !known.has(`${start} ${end}`) && known.add(`${start} ${end}`));
}

/** Where a node stands, and how its text is written: `1_000` is `1000`. */
const NOT_SHAPE = new Set(["start", "end", "raw"]);

/** The node without its place and without the way in which it is written. */
export function shapeOf(node: SyntaxNode): string {
  return JSON.stringify(node, (key, value: unknown) => {
    if (NOT_SHAPE.has(key)) return undefined;
    return typeof value === "bigint" ? String(value) : value;
  });
}
