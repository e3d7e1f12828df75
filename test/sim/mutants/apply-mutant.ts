/** Puts a mutant's words in place of the shipped ones, or says why they cannot be put there. */
import { at, parseWithoutParentheses, type SyntaxNode } from "../../tidy/parse.ts";
import { type Declaration, Declarations, readSources, specifierOf } from "./declarations.ts";
import type { Mutant, Patch } from "./mutant.ts";
import { nearestNames, nearestPieces, standsIn } from "./nearest.ts";
import { type Fragment, fragmentsOf, type Place, placesOf } from "./same-syntax.ts";

/** A piece of a file's text, and what takes its place. */
interface Change {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The files that a mutant changes, by their path from the repository's root, with their new text. */
export type ChangedSources = ReadonlyMap<string, string>;

let shipped: Declarations | undefined;

/** The sources as they were when this process first asked for them. */
export function shippedSources(): Declarations {
  shipped ??= new Declarations(readSources());
  return shipped;
}

/** Throws what it found if a patch does not apply, or leaves no code. */
export function applyMutant({ name, patches }: Pick<Mutant, "name" | "patches">, sources = shippedSources()) {
  const changes = patches.flatMap((patch) => {
    try {
      return changesOf(patch, sources);
    } catch (error) {
      throw new Error(`mutant ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  const texts = new Map<string, string>();
  for (const { file } of changes) texts.set(file, sources.file(file)?.text ?? "");
  for (const { file, start, end, text } of changes.sort((one, other) => other.start - one.start)) {
    const before = texts.get(file) ?? "";
    texts.set(file, before.slice(0, start) + text + before.slice(end));
  }
  for (const [file, text] of texts) parseWithoutParentheses(file, text);
  return texts as ChangedSources;
}

function changesOf(patch: Patch, sources: Declarations): Change[] {
  const declaration = declarationOf(patch, sources);
  const { fragment, place } = placeOf(patch, declaration, sources);
  const { path } = declaration.file;
  const { start, end } = patch.to === "" ? withComma(place, declaration.file.text) : place;
  const change = { file: path, start, end, text: replacement(patch, fragment, place) };
  return [change, ...(patch.uses ?? []).flatMap((name) => importOf(name, path, sources))];
}

function declarationOf(patch: Patch, sources: Declarations): Declaration {
  const found = sources.named(patch.in, patch.file);
  const [declaration, ...more] = found;
  const where = patch.file === undefined ? "lib" : patch.file;
  if (declaration === undefined) {
    throw new Error(
      `${where} declares no ${patch.in}; near it are ${nearestNames(patch.in, sources).join(", ")}. ` +
        standsIn(patch.from, sources).said,
    );
  }
  if (more.length > 0) {
    const paths = found.map(({ file }) => file.path).join(", ");
    throw new Error(`${patch.in} is declared in ${paths}; name one as \`file\``);
  }
  return declaration;
}

function placeOf(patch: Patch, declaration: Declaration, sources: Declarations) {
  const fragments = fragmentsOf(patch.from);
  if (fragments.length === 0) throw new Error(`this is no piece of code: ${patch.from}`);
  const { file, nodes } = declaration;
  for (const fragment of fragments) {
    const places = nodes.flatMap((node) => placesOf(fragment, node));
    const [place, ...more] = places;
    if (place === undefined) continue;
    if (more.length === 0) return { fragment, place };
    const lines = places.map(({ start }) => at(file, { start } as SyntaxNode)).join(", ");
    throw new Error(`${patch.in} holds this ${places.length} times, not once: ${patch.from} (${lines})`);
  }
  const elsewhere = standsIn(patch.from, sources);
  const near = elsewhere.isThere ? [] : nearestPieces(fragments, declaration);
  const found = [`${patch.in} (${file.path}) does not hold: ${patch.from}`, elsewhere.said, ...near];
  throw new Error(found.join("\n"));
}

/** A property or parameter goes with the comma behind it. */
function withComma({ start, end }: Place, text: string): { start: number; end: number } {
  const [comma = ""] = /^\s*,/.exec(text.slice(end)) ?? [];
  return { start, end: end + comma.length };
}

/** What is written in the place, with the parentheses or braces that it needs there. */
function replacement({ to }: Patch, { kind }: Fragment, { inList }: Place): string {
  if (kind === "expression") {
    if (fragmentsOf(to)[0]?.kind !== "expression")
      throw new Error(`this takes an expression's place, but is none: ${to}`);
    return `(${to})`;
  }
  return kind === "statements" && !inList ? `{ ${to} }` : to;
}

function importOf(name: string, into: string, sources: Declarations): Change[] {
  const [declared, ...more] = sources.named(name);
  if (declared === undefined || more.length > 0)
    throw new Error(`\`uses\`: ${more.length === 0 ? "no" : "no single"} file declares ${name}`);
  const text = `import { ${name} } from "${specifierOf(into, declared.file.path)}";\n`;
  return [{ file: into, start: 0, end: 0, text }];
}
