/** What a document lets its reader type: the command lines of its shell blocks, and the output that it shows. */

export interface CommandBlock {
  /** Line of the document on which the block begins. */
  readonly line: number;
  readonly commands: readonly Command[];
  /** What the block behind it shows; absent: whatever is printed will do. */
  readonly output?: ShownOutput;
  /** Why nothing here can run it. */
  readonly notRun?: string;
}

export interface Command {
  /** As bash takes it, continuation lines included. */
  readonly text: string;
  /** What the comment behind it says; 0 if it says nothing. */
  readonly exitCode: number;
}

export interface ShownOutput {
  readonly language: "text" | "json";
  readonly text: string;
}

/** A fenced block with the marker in front of it and the output behind it, each perhaps after blank lines. */
const block =
  /(?:^<!-- not run: (?<reason>[^\n]+?) -->\n+)?^```sh\n(?<code>[\s\S]*?)^```$(?:\n+^```(?<language>text|json)\n(?<output>[\s\S]*?)^```$)?/gm;

/** The shell blocks of a document, in order. */
export function commandBlocks(document: string): CommandBlock[] {
  return [...document.matchAll(block)].map((found) => {
    const { reason, code = "", language, output } = found.groups ?? {};
    const line = document.slice(0, found.index).split("\n").length;
    return {
      line,
      commands: commandsOf(code),
      ...(output === undefined ? {} : { output: { language: language as "text" | "json", text: output } }),
      ...(reason === undefined ? {} : { notRun: reason }),
    };
  });
}

function commandsOf(code: string): Command[] {
  const lines = code.replace(/\\\n/g, "\\\0").split("\n");
  return lines
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, exitCode = "0"] = /\s#.*\bexit code (\d+)/.exec(line) ?? [];
      return { text: line.replaceAll("\\\0", "\\\n"), exitCode: Number(exitCode) };
    });
}

/** What the placeholders of commands and outputs stand for, such as the id of a ledger that was printed. */
export type Bindings = Map<string, string>;

const placeholder = /<([a-z][a-z-]*)>/g;

/** The command with its placeholders filled in, outside of its comment. Throws if nothing was printed for one. */
export function filledIn(command: string, bindings: ReadonlyMap<string, string>): string {
  const [, typed = "", comment = ""] = /^([\s\S]*?)(\s#[^\n]*)?$/.exec(command) ?? [];
  const filled = typed.replace(placeholder, (whole, name: string) => {
    const value = bindings.get(name);
    if (value === undefined) throw new Error(`no output before ${JSON.stringify(command)} shows ${whole}`);
    return value;
  });
  return filled + comment;
}

/**
 * Whether what was printed is what the document shows, and what its placeholders stood for. A placeholder is
 * one word of text, the same word each time, or in JSON one value of its own, `<list>` the members of an array.
 * A line of three dots is any number of lines. White space of JSON says nothing.
 */
export function matchOutput(shown: ShownOutput, printed: string): Bindings | undefined {
  return shown.language === "json" ? matchJson(shown.text, printed) : matchText(shown.text, printed);
}

function matchText(shown: string, printed: string): Bindings | undefined {
  const names = new Set<string>();
  const lines = shown.trimEnd().split("\n");
  const pattern = lines.map((line) => {
    if (line === "...") return "(?:[^\\n]*(?:\\n|$))*?";
    return `${piecewise(line, (name) => {
      if (names.has(name)) return `\\k<${groupOf(name)}>`;
      names.add(name);
      return `(?<${groupOf(name)}>[^\\s,]+)`;
    })}(?:\\n|$)`;
  });
  const found = new RegExp(`^${pattern.join("")}$`).exec(printed);
  if (found === null) return undefined;
  return new Map([...names].map((name) => [name, found.groups?.[groupOf(name)] ?? ""]));
}

function matchJson(shown: string, printed: string): Bindings | undefined {
  const pattern = piecewise(shown.replace(/\s+/g, ""), (name) =>
    name === "list" ? "[^\\[\\]{}]*" : '[^\\[\\]{}",]*',
  );
  return new RegExp(`^${pattern}$`).test(printed.replace(/\s+/g, "")) ? new Map() : undefined;
}

/** The text as a regular expression that means it literally, but for its placeholders. */
function piecewise(text: string, ofPlaceholder: (name: string) => string): string {
  return text
    .split(/(<[a-z][a-z-]*>)/)
    .map((piece, index) =>
      index % 2 === 1 ? ofPlaceholder(piece.slice(1, -1)) : piece.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"),
    )
    .join("");
}

function groupOf(name: string): string {
  return name.replaceAll("-", "_");
}
