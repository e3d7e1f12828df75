/** Data on standard output, everything else on standard error. */
import { ProblemError } from "../client/client-errors.ts";

export type OutputFormat = "text" | "json";

/** Where a command writes; the process's own streams, or a test's. */
export interface Streams {
  readonly stdin: AsyncIterable<Buffer>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** The reader of our output has gone away, as `head` does: not an error. */
export class OutputClosedError extends Error {
  override readonly name = "OutputClosedError";
}

/** Writes data and waits while its reader is slower than we are. Throws OutputClosedError. */
export async function writeData({ stdout }: Streams, data: string | Uint8Array): Promise<void> {
  if (!isClosed(stdout) && !stdout.write(data)) await drained(stdout);
  if (isClosed(stdout)) throw new OutputClosedError("standard output is closed");
}

function drained(stream: NodeJS.WritableStream): Promise<void> {
  const events = ["drain", "close", "error"];
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

/** One result: JSON as it is on the wire, or text for people. */
export async function writeResult(
  streams: Streams,
  format: OutputFormat,
  result: unknown,
  text: string,
): Promise<void> {
  await writeData(streams, format === "json" ? `${JSON.stringify(result)}\n` : `${text}\n`);
}

export function note(streams: Streams, line: string): void {
  streams.stderr.write(`${line}\n`);
}

/** Tells of a failure: one line, and for programs the problem document. */
export function noteError(streams: Streams, format: OutputFormat, error: unknown): void {
  note(streams, format === "json" ? errorJson(error) : errorText(error));
}

function errorJson(error: unknown): string {
  return JSON.stringify(error instanceof ProblemError ? error.problem : { error: messageOf(error) });
}

function errorText(error: unknown): string {
  const code = error instanceof ProblemError ? ` [${error.code}]` : "";
  return `fenceline: ${messageOf(error)}${code}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isClosed(stream: NodeJS.WritableStream): boolean {
  return "destroyed" in stream && stream.destroyed === true;
}

/** 1 234 567 as "1,234,567", whatever the machine's language is. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
