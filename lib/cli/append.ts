/** `fenceline append`: newline records into a log, each batch once. */
import { randomBytes } from "node:crypto";
import { batchLimits } from "../client/batch-limits.ts";
import { ProblemError, type RequestError } from "../client/client-errors.ts";
import type { LogClient } from "../client/log-client.ts";
import { type AppendMode, BatchInDoubtError, OrderedAppend } from "../client/ordered-append.ts";
import { retrying } from "../client/retry.ts";
import { batchesOf } from "./batches.ts";
import { linesOf } from "./lines.ts";
import { grouped, note, type OutputFormat, type Streams, writeResult } from "./output.ts";
import { Progress } from "./progress.ts";

export interface AppendCommand {
  readonly client: LogClient;
  readonly streams: Streams;
  readonly output: OutputFormat;
  readonly log: string;
  /** Paths, or "-" for standard input. */
  readonly sources: readonly string[];
  /** The seq_num that the first line gets, or has if `resume`. */
  readonly matchSeqNum?: number;
  readonly resume: boolean;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

const LINGER_MS = 100;

export async function appendCommand(command: AppendCommand): Promise<void> {
  const { client, streams, log, resume } = command;
  const mode: AppendMode = resume ? "resume" : command.matchSeqNum === undefined ? "shared" : "exclusive";
  const progress = new Progress(streams, log);
  const patience = {
    patienceMs: command.patienceMs,
    signal: command.signal,
    onRetry: (error: RequestError) => progress.troubled(error.message),
  };
  using _ticking = progress.start();
  const tail = (await retrying(patience, () => client.tail(log))).tail;
  const at = command.matchSeqNum ?? (resume ? 0 : tail);
  const append = new OrderedAppend({
    ...patience,
    client,
    log,
    mode,
    at,
    token: randomBytes(8).toString("hex"),
  });
  append.presentUpTo(tail);
  progress.begin(at);
  try {
    for await (const batch of batchesOf(lines(command), batchSizes, command.signal)) {
      const outcome = await append.append(batch);
      progress.count(batch, outcome);
    }
  } catch (error) {
    note(streams, howToGoOn(command, progress, error));
    throw error;
  }
  await writeResult(streams, command.output, progress.summary(), progress.summaryText());
}

const batchSizes = {
  recordsMax: batchLimits.recordsMax,
  bytesMax: batchLimits.bytesMax - batchLimits.nameBytes,
  recordBytes: batchLimits.recordBytes,
  lingerMs: LINGER_MS,
};

function lines({ sources, streams }: AppendCommand): AsyncIterable<Buffer[]> {
  return linesOf(sources, streams.stdin, batchLimits.bytesMax - batchLimits.recordBytes);
}

/** What is in the log when a command fails, and how the same input is completed exactly. */
function howToGoOn(command: AppendCommand, progress: Progress, error: unknown): string {
  const { lines: done, first } = progress;
  const told = [`${grouped(done)} lines of the input are in log ${command.log}.`];
  if (error instanceof BatchInDoubtError) {
    told.push(
      `The next ${grouped(error.count)} may be there, all of them or none, from seq_num ${error.at} on.`,
    );
  }
  if (error instanceof ProblemError && error.code === "log_not_found") {
    return `Create the log with: fenceline create ${command.log}`;
  }
  if (first === undefined && done > 0) {
    told.push("Others appended in between: read the log to see which lines are there.");
  } else {
    const from = first ?? command.matchSeqNum ?? progress.at;
    const input = command.sources.join(" ");
    told.push(`Complete it with: fenceline append ${command.log} ${input} --match-seq-num ${from} --resume`);
  }
  return told.join(" ");
}
