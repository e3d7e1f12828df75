/** Newline records from files or standard input, as bytes. */
import { createReadStream } from "node:fs";
import { UsageError } from "./exit-codes.ts";

const NEWLINE = 0x0a;

/** Standard input's name among files. */
export const STDIN = "-";

/**
 * The lines of the sources, one source after another, in groups as they arrive. A line is what stands before
 * a newline, byte for byte, carriage returns included; what follows the last newline of a source is a line
 * too, unless it is empty. Throws UsageError for a line of more than `lineBytesMax`.
 */
export async function* linesOf(
  sources: readonly string[],
  stdin: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<Buffer[]> {
  let lineNumber = 0;
  const checked = (line: Buffer): Buffer => {
    lineNumber += 1;
    if (line.length <= lineBytesMax) return line;
    throw new UsageError(
      `line ${lineNumber} has ${line.length} bytes or more, and a record holds ` +
        `at most ${lineBytesMax}; split it`,
    );
  };
  for (const source of sources) {
    let rest: Buffer = Buffer.of();
    for await (const chunk of source === STDIN ? stdin : chunksOf(source)) {
      const lines = splitLines(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
      rest = lines.pop() ?? Buffer.of();
      if (lines.length > 0) yield lines.map(checked);
      if (rest.length > lineBytesMax) checked(rest);
    }
    if (rest.length > 0) yield [checked(rest)];
  }
}

/** What stands between newlines; the last element is what follows the last one. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  lines.push(bytes.subarray(start));
  return lines;
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Buffer;
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
