/** Newline records from files or standard input, as bytes. */
import { constants, createReadStream, fstatSync, statSync, writeSync } from "node:fs";
import { access, type FileHandle, open, stat } from "node:fs/promises";
import { UsageError } from "./exit-codes.ts";

const NEWLINE = 0x0a;

/** Standard input's name among files. */
export const STDIN = "-";

type Chunks = AsyncIterable<Buffer>;

/** What is read, in its order; nothing of it is missing or forbidden when the first of it is read. */
export class Sources implements Disposable {
  /** Opened, and not yet read. */
  readonly #waiting: (FileHandle | undefined)[] = [];

  private constructor(
    private readonly paths: readonly string[],
    private readonly stdin: Chunks,
  ) {}

  /** Opens files, and looks whether they can be read. Throws UsageError. */
  static async open(paths: readonly string[], stdin: Chunks): Promise<Sources> {
    const sources = new Sources(paths, stdin);
    if (paths.includes(STDIN) && stdin === process.stdin) checkStandardInput();
    try {
      for (const path of paths) sources.#waiting.push(path === STDIN ? undefined : await opened(path));
      return sources;
    } catch (error) {
      sources[Symbol.dispose]();
      throw error;
    }
  }

  /** One after another, once. What they throw is a UsageError. */
  *[Symbol.iterator](): Generator<Chunks> {
    for (const path of this.paths) {
      const handle = this.#waiting.shift();
      if (path === STDIN) yield readable("standard input", this.stdin);
      else yield readable(path, handle?.createReadStream() ?? createReadStream(path));
    }
  }

  [Symbol.dispose](): void {
    for (const handle of this.#waiting.splice(0)) handle?.close().catch(() => {});
  }
}

/** Of what Node reads as an empty file. Throws UsageError. */
function checkStandardInput(): void {
  if (fstatSync(0).isDirectory()) throw unreadable("standard input", new Error("EISDIR: it is a directory"));
  if (!mayBeClosed()) return;
  const why = "EBADF: it is closed, or /dev/null open for writing, so there was no input";
  throw unreadable("standard input", new Error(why));
}

/**
 * Node opens /dev/null, for reading and writing, in place of what it finds closed, and so do some programs
 * for what they start without input. A shell's `</dev/null` is for reading alone: that is an empty input.
 */
function mayBeClosed(): boolean {
  const nothing = statSync("/dev/null", { throwIfNoEntry: false });
  const input = fstatSync(0);
  if (!input.isCharacterDevice() || input.rdev !== nothing?.rdev) return false;
  try {
    return writeSync(0, Buffer.alloc(0)) === 0;
  } catch {
    return false;
  }
}

/** Undefined: to be opened in its turn. A pipe's opening waits for its writer. */
async function opened(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined;
  try {
    const found = await stat(path);
    if (!found.isFile() && !found.isDirectory()) {
      await access(path, constants.R_OK);
      return undefined;
    }
    handle = await open(path);
    const FROM_THE_START = 0;
    await handle.read(Buffer.alloc(1), 0, 1, FROM_THE_START);
    return handle;
  } catch (error) {
    await handle?.close();
    throw unreadable(path, error);
  }
}

async function* readable(name: string, chunks: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) yield chunk as Buffer;
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): UsageError {
  const why = error instanceof Error ? error.message : String(error);
  return new UsageError(`${name} cannot be read: ${why}`, { cause: error });
}

/**
 * The lines of the sources, one source after another, in groups as they arrive. A line is what stands before
 * a newline, byte for byte, carriage returns included; what follows the last newline of a source is a line
 * too, unless it is empty. Throws UsageError for a line of more than `lineBytesMax`.
 */
export async function* linesOf(sources: Iterable<Chunks>, lineBytesMax: number): AsyncGenerator<Buffer[]> {
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
    for await (const chunk of source) {
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
