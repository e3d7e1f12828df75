/**
 * Too late and too old are judged in one place, by both clocks: lib/protocol/deadline.ts. Elsewhere in lib no
 * file asks a clock for monotonic time, nor computes or compares with what a clock says now, unless it stands
 * in the list with its reason: it measures how long something took, or the times are those of records.
 */
import { at, isNode, parse, type SyntaxNode, visit } from "./parse.ts";
import { isCode, isWithin, type SourceFile } from "./repository.ts";

/** Paths, and why they read clocks themselves. */
export type ReadsClocks = Readonly<Record<string, string>>;

export function clockReadings(files: readonly SourceFile[], allowed: ReadsClocks): string[] {
  const inLib = files.filter(({ path }) => isCode(path) && isWithin(path, "lib"));
  const isAllowed = (path: string) => Object.keys(allowed).some((entry) => isWithin(path, entry));
  return [
    ...inLib.filter(({ path }) => !isAllowed(path)).flatMap(readingsIn),
    ...Object.keys(allowed)
      .filter((entry) => !inLib.some(({ path }) => isWithin(path, entry)))
      .map((entry) => `${entry}: listed as a reader of clocks, but there is no such file`),
    ...Object.entries(allowed).flatMap(([entry, reason]) => (reason.trim() ? [] : [`${entry}: no reason`])),
  ];
}

function readingsIn(file: SourceFile): string[] {
  const found: string[] = [];
  visit(parse(file), (node) => {
    const clock = calledClock(node);
    if (clock === "monotonicMs") found.push(`${at(file, node)}: ${clock}: take a Deadline or an Age`);
    if (node.type !== "BinaryExpression") return;
    const compared = [node.left, node.right].map(calledClock).find((one) => one === "nowMs" || one === "now");
    if (compared !== undefined) found.push(`${at(file, node)}: ${compared}: take a Deadline or an Age`);
  });
  return found;
}

/** The clock that is asked: `clock.monotonicMs()`, `clock.nowMs()`, `performance.now()` or `Date.now()`. */
function calledClock(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== "CallExpression" || !isNode(node.callee)) return undefined;
  const { type, property } = node.callee as SyntaxNode;
  if (type !== "MemberExpression" || !isNode(property) || property.type !== "Identifier") return undefined;
  const name = String(property.name);
  return ["monotonicMs", "nowMs", "now"].includes(name) ? name : undefined;
}
