/**
 * Lines that a person can paste into a shell. bash and zsh read them as they were meant, whatever a name
 * holds; so does every POSIX shell where no name has a control character.
 */

/** One word, as a shell takes it. */
export function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (INVISIBLE.test(word)) return `$'${[...word].map(escaped).join("")}'`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Controls, and what changes how the rest of a line looks: a terminal must not act on them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function escaped(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  if (!INVISIBLE.test(character)) return character;
  const bytes = [...Buffer.from(character, "utf8")];
  return bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

/** What a command line is made of, in the order in which it is typed. */
interface LineParts {
  /** "append", "create": words that need no quotes. */
  readonly command: string;
  /** Names and paths. One that looks like an option goes behind "--". */
  readonly operands: readonly string[];
  /** Behind the operands, or before "--". */
  readonly options?: readonly string[];
}

/** "npx fenceline append orders a.txt --resume". */
export function fencelineLine({ command, operands, options = [] }: LineParts): string {
  const looksLikeOption = operands.some((one) => one.startsWith("-") && one !== "-");
  const words = looksLikeOption ? [...options, "--", ...operands] : [...operands, ...options];
  return ["npx fenceline", command, ...words.map(quoted)].join(" ");
}
