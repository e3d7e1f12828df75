/**
 * The imports among the files of lib as one graph, imports of types included: it has no circle, the folders
 * of the protocol lie one above the other, and a small file serves more than one other.
 */
import { importsOf, resolve } from "./parse.ts";
import { isCode, isWithin, type SourceFile } from "./repository.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** Files of lib, each with the files of lib that it imports. */
function graphOf(files: readonly SourceFile[]): Graph {
  const code = files.filter(({ path }) => isCode(path) && isWithin(path, "lib"));
  const paths = new Set(code.map(({ path }) => path));
  return new Map(
    code.map((file) => {
      const targets = importsOf(file).map(({ specifier }) => resolve(file.path, specifier));
      return [file.path, [...new Set(targets)].filter((target) => paths.has(target))];
    }),
  );
}

/** One path for each knot of files that import each other: the shortest way from its first file back. */
export function importCircles(files: readonly SourceFile[]): string[] {
  const graph = graphOf(files);
  const told = new Set<string>();
  return [...graph.keys()].sort().flatMap((path) => {
    if (told.has(path)) return [];
    const circle = shortestCircle(graph, path);
    if (circle === undefined) return [];
    for (const other of graph.keys()) {
      if (reaches(graph, path, other) && reaches(graph, other, path)) told.add(other);
    }
    return [`a circle of imports: ${circle.join(" -> ")}`];
  });
}

function shortestCircle(graph: Graph, from: string): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const ahead = [from];
  for (const path of ahead) {
    for (const next of graph.get(path) ?? []) {
      if (next === from) return [...wayTo(path, cameFrom), from];
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, path);
      ahead.push(next);
    }
  }
  return undefined;
}

function wayTo(path: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const way = [path];
  for (let before = cameFrom.get(path); before !== undefined; before = cameFrom.get(before))
    way.unshift(before);
  return way;
}

function reaches(graph: Graph, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const path of seen) {
    if (path === to) return true;
    for (const next of graph.get(path) ?? []) seen.add(next);
  }
  return false;
}

const protocol = "lib/protocol";

/** The floors of the protocol, lowest first. A file imports from its own floor and from those below. */
const floors: readonly (readonly string[])[] = [
  ["bookie"],
  ["reads"],
  ["placement"],
  ["ledger"],
  ["log/log-ref.ts"],
  ["log/records"],
  ["log/operations.ts", "log/log-ports.ts", "log/inbox-store.ts", "log/inbox-limits.ts"],
  ["log/producers"],
  ["log/catalogue"],
  ["log/chain"],
  ["log/reading"],
  ["log/opening"],
  ["log/lease"],
  ["log/inbox"],
  ["log/appending"],
  ["log/ownership"],
  ["log/upkeep"],
  ["log/log-appends.ts", "log/log-reads.ts"],
  ["compose-region.ts"],
];

/** Below the floors: the files that lie in no folder of the protocol. */
const GROUND = -1;

export function upwardImports(files: readonly SourceFile[]): string[] {
  const graph = [...graphOf(files)].filter(([path]) => isWithin(path, protocol));
  return graph.flatMap(([path, targets]) => {
    const floor = floorOf(path);
    if (floor === undefined) return [`${path}: its folder has no floor in the protocol`];
    return targets
      .filter((target) => (floorOf(target) ?? GROUND) > floor)
      .map((target) => `${path}: imports upward from ${target}`);
  });
}

/** Undefined: it lies in a folder without a floor, or outside the protocol. */
function floorOf(path: string): number | undefined {
  const floor = floors.findIndex((folders) => folders.some((name) => isWithin(path, `${protocol}/${name}`)));
  if (floor >= 0) return floor;
  return path.lastIndexOf("/") === protocol.length ? GROUND : undefined;
}

const smallLines = 30;

/** Files under 30 lines that fewer than two files import, and that nothing outside lib starts. */
export function smallFiles(files: readonly SourceFile[]): string[] {
  const importers = new Map<string, number>();
  for (const file of files.filter(({ path }) => isCode(path) && !isWithin(path, "test"))) {
    const targets = new Set(importsOf(file).map(({ specifier }) => resolve(file.path, specifier)));
    for (const target of targets) importers.set(target, (importers.get(target) ?? 0) + 1);
  }
  return files
    .filter(({ path }) => isCode(path) && isWithin(path, "lib"))
    .map(({ path, text }) => ({ path, lines: text.replace(/\n$/, "").split("\n").length }))
    .filter(({ path, lines }) => lines < smallLines && (importers.get(path) ?? 0) < 2)
    .map(({ path, lines }) => `${path}: ${lines} lines for one file to import; put it where it is needed`);
}
