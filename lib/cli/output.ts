/** Data on standard output, everything else on standard error. */
import { createWriteStream, fstatSync } from "node:fs";
import { BatchInDoubtError } from "../client/batch-outcome.ts";
import { ProblemError, RequestError } from "../client/client-errors.ts";
import { configNumberRows } from "../protocol/log-config.ts";
import { InterruptedError } from "./interruption.ts";

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

/** Our output did not get where it was to go: a disk that is full, say. */
class OutputFailedError extends Error {
  override readonly name = "OutputFailedError";
}

/** This process's own. A file gets all of it, or there is an error: `process.stdout` ignores short writes. */
export function standardOutput(): NodeJS.WritableStream {
  return fstatSync(1).isFile() ? createWriteStream("", { fd: 1, autoClose: false }) : process.stdout;
}

/**
 * Writes data, and waits until it is written: the reader may be slower than we are, or the disk full. Throws
 * OutputClosedError or OutputFailedError.
 */
export async function writeData({ stdout }: Streams, data: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error | null) => {
      stdout.off("close", closed);
      if (error) reject(outputError(error));
      else resolve();
    };
    // A stream that is destroyed forgets the write that is under way.
    const closed = () => done(new OutputClosedError("standard output is closed"));
    stdout.once("close", closed);
    stdout.write(data, done);
  });
}

/** What the system and Node say when the other end is gone. */
const READER_LEFT = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

function outputError(error: Error): OutputClosedError | OutputFailedError {
  if (error instanceof OutputClosedError) return error;
  const code = "code" in error ? String(error.code) : "";
  if (READER_LEFT.has(code)) return new OutputClosedError("standard output is closed", { cause: error });
  return new OutputFailedError(`standard output cannot be written: ${error.message}`, { cause: error });
}

/** One result, of work that is done: JSON as it is on the wire, or text for people. Throws as `writeData`. */
export async function writeResult(
  streams: Streams,
  format: OutputFormat,
  result: unknown,
  text: string,
): Promise<void> {
  try {
    await writeData(streams, format === "json" ? `${JSON.stringify(result)}\n` : `${text}\n`);
  } catch (error) {
    if (!(error instanceof OutputFailedError)) throw error;
    throw new OutputFailedError(`${error.message}. What was asked for is done all the same`, {
      cause: error,
    });
  }
}

export function note(streams: Streams, line: string): void {
  streams.stderr.write(`${line}\n`);
}

/** Reports a failure, with what to do if that is known; for programs the problem document. */
export function noteError(streams: Streams, format: OutputFormat, error: unknown, remedy?: string): void {
  if (format === "json") note(streams, errorJson(error, remedy));
  else note(streams, remedy === undefined ? errorText(error) : `${errorText(error)}. ${remedy}`);
}

function errorJson(error: unknown, remedy: string | undefined): string {
  if (error instanceof ProblemError) return JSON.stringify(error.problem);
  if (error instanceof InterruptedError) return JSON.stringify(interruptionJson(error));
  return JSON.stringify({ error: messageOf(error), ...(remedy === undefined ? {} : { remedy }) });
}

function interruptionJson({ by, message, stopped }: InterruptedError) {
  const doubt = stopped instanceof BatchInDoubtError ? stopped : undefined;
  const effects = stopped instanceof RequestError ? stopped.sideEffects : "none";
  return {
    error: message,
    interrupted: by,
    side_effects: doubt === undefined ? effects : "possible",
    ...(doubt === undefined ? {} : { in_doubt: { records: doubt.count, at: doubt.at ?? null } }),
  };
}

function errorText(error: unknown): string {
  const code = error instanceof ProblemError ? ` [${error.code}]` : "";
  return `fenceline: ${wordsOf(error)}${code}`;
}

/** Words of HTTP, and of the protocol, for what a command calls otherwise. */
const COMMAND_WORDS: readonly (readonly [RegExp, string])[] = [
  [/; GET \/v1\/openapi\.json has the whole form/g, ""],
  [/ ?Percent-encode the name as one path segment \('\/' is %2F\), without '\.' or '\.\.' segments\./g, ""],
  [/\/path\/log is no log name\b/g, "the log's name is refused"],
  [/\/path\/id\b/g, "the ledger's id"],
  [/\/body\/seq_num\b/g, "--to"],
  [/\/body\/replication\b(?!\/)/g, "the quorum sizes"],
  [/(\/body\/replication\/|\b)ensemble_size\b|\bensembleSize\b/g, "--ensemble"],
  [/(\/body\/replication\/|\b)write_quorum\b|\bwriteQuorum\b/g, "--write-quorum"],
  [/(\/body\/replication\/|\b)ack_quorum\b|\backQuorum\b/g, "--ack-quorum"],
  [/(\/body\/replication\/|\b)min_regions\b|\bminRegions\b/g, "--min-regions"],
  [/\breplication\.(?=--)/g, ""],
  ...configNumberRows.flatMap(([, row]) => numberWords(row)),
  [/\bpreferred_region\b/g, "--prefer"],
  [/\bdigest is\b/g, "--digest is"],
  [/\bmatch_seq_num\b/g, "--match-seq-num"],
];

/** A number is in the units of the wire, which are said where the flag has others. */
function numberWords({ wire, flag, unitsPerFlag }: (typeof configNumberRows)[number][1]) {
  const [name = flag] = flag.split(" ");
  const inMs = [new RegExp(`(?<=\\b${wire} is [^;]*)\\b\\d+\\b`, "g"), "$& ms"] as const;
  const named = [new RegExp(`(/body/|\\b)${wire}\\b`, "g"), name] as const;
  return unitsPerFlag === 1 ? [named] : [inMs, named];
}

function wordsOf(error: unknown): string {
  const message = messageOf(error);
  if (!(error instanceof ProblemError) && !(error instanceof BatchInDoubtError)) return message;
  return commandWords(message);
}

/** The same in the words of the command line. */
export function commandWords(text: string): string {
  return COMMAND_WORDS.reduce((words, [other, command]) => words.replace(other, command), text);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** "1 line", "1,234 lines". */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** 1 234 567 as "1,234,567", whatever the machine's language is. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
