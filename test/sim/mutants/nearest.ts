/** What comes nearest to a piece of code that is not where a mutant looks for it. */
import { at, type SyntaxNode } from "../../tidy/parse.ts";
import type { Declaration, Declarations } from "./declarations.ts";
import { type Fragment, forEachRow, fragmentsOf, placesOf, shapeOf, span } from "./same-syntax.ts";

const CANDIDATES_MAX = 3;
/** Below it, two texts only happen to share some words. */
const LIKENESS_MIN = 0.4;

/** A sentence that names the innermost declarations that hold the piece. */
export function standsIn(text: string, sources: Declarations): { isThere: boolean; said: string } {
  const fragments = fragmentsOf(text);
  const holders = sources.all().flatMap(({ name, file, nodes }) =>
    nodes.flatMap((node) => {
      const places = fragments.flatMap((fragment) => placesOf(fragment, node));
      return places.map((place) => ({ name, where: at(file, place as unknown as SyntaxNode) }));
    }),
  );
  const members = new Map(holders.map(({ name, where }) => [where, name])); // a member comes after its class
  if (members.size === 0) return { isThere: false, said: "Nothing in lib holds it." };
  const listed = [...members].slice(0, CANDIDATES_MAX).map(([where, name]) => `${name} (${where})`);
  const more = members.size > CANDIDATES_MAX ? " and elsewhere" : "";
  return { isThere: true, said: `It stands in ${listed.join(", ")}${more}.` };
}

/** Pieces of the declaration that read most like it, each with its place. */
export function nearestPieces(fragments: readonly Fragment[], { file, nodes }: Declaration): string[] {
  const found = new Map<string, number>();
  for (const fragment of fragments) {
    const wanted = pairsOf(fragment.nodes.map(shapeOf).join(" "));
    const see = (row: readonly SyntaxNode[]) => {
      for (let from = 0; from + fragment.nodes.length <= row.length; from++) {
        const run = row.slice(from, from + fragment.nodes.length);
        const { start, end } = span(run);
        const text = file.text.slice(start, end).replaceAll(/\s+/g, " ");
        const likeness = likenessOf(wanted, pairsOf(run.map(shapeOf).join(" ")));
        const line = `  nearest, ${at(file, run[0] as SyntaxNode)}: ${text.slice(0, 160)}`;
        if (likeness >= LIKENESS_MIN) found.set(line, Math.max(likeness, found.get(line) ?? 0));
      }
    };
    for (const node of nodes) forEachRow(node, see);
  }
  return best(found);
}

export function nearestNames(name: string, sources: Declarations): string[] {
  const wanted = pairsOf(name, "");
  return best(new Map(sources.all().map((one) => [one.name, likenessOf(wanted, pairsOf(one.name, ""))])));
}

function best(scores: ReadonlyMap<string, number>): string[] {
  const ranked = [...scores].sort(([, one], [, other]) => other - one);
  return ranked.slice(0, CANDIDATES_MAX).map(([text]) => text);
}

/** Neighbouring words, or letters where nothing divides them. */
function pairsOf(text: string, divider: string | RegExp = /[^\w#$]+/): Set<string> {
  const words = text.split(divider);
  return new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`));
}

/** From 0, nothing in common, to 1 (Dice's coefficient). */
function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((pair) => other.has(pair)).length;
  return (2 * shared) / Math.max(1, one.size + other.size);
}
