/** `fenceline append`: newline records into a log, each batch once. */
import { randomBytes } from "node:crypto";
import { BatchInDoubtError, type BatchOutcome } from "../client/batch-outcome.ts";
import { AbandonedError, ProblemError, RequestError } from "../client/client-errors.ts";
import type { LogClient } from "../client/log-client.ts";
import { batchLimits, LogProducer, type LogProducerFields } from "../client/log-producer.ts";
import { OrderedAppend } from "../client/ordered-append.ts";
import { retrying } from "../client/retry.ts";
import { batchesOf } from "./batches.ts";
import { PartlyDoneError, UsageError } from "./exit-codes.ts";
import { InterruptedError, toldAsInterruption } from "./interruption.ts";
import { linesOf, Sources, STDIN } from "./lines.ts";
import { counted, grouped, note, type OutputFormat, type Streams, writeResult } from "./output.ts";
import { Progress } from "./progress.ts";
import { fencelineLine } from "./shell-words.ts";

interface AppendCommand {
  readonly client: LogClient;
  /** The options that say where the log is, as they were given, for lines to run. */
  readonly where: readonly string[];
  readonly streams: Streams;
  readonly output: OutputFormat;
  readonly log: string;
  /** Paths, or "-" for standard input. */
  readonly sources: readonly string[];
  /** The seq_num that the first line gets, or has if `resume`. */
  readonly matchSeqNum?: number;
  readonly resume: boolean;
  /** Id of the producer that this run is: of a run that this one completes, or a random one if absent. */
  readonly key?: string;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

const LINGER_MS = 100;

export async function appendCommand(command: AppendCommand): Promise<void> {
  const { client, streams, log, resume } = command;
  const sender = senderOf(command);
  const progress = new Progress(streams, log, command.patienceMs);
  const patience = {
    patienceMs: command.patienceMs,
    signal: command.signal,
    onRetry: (error: RequestError) => progress.troubled(error.message),
  };
  using _ticking = progress.start();
  try {
    using sources = await Sources.open(command.sources, streams.stdin);
    const groups = linesOf(sources, batchLimits.bytesMax - batchLimits.recordBytes);
    const tail = (await retrying(patience, client, (bounded) => bounded.tail(log))).tail;
    const at = command.matchSeqNum ?? (resume ? 0 : tail);
    const appender = appenderOf(command, { ...patience, ...sender, client, log }, at, tail);
    progress.begin(at);
    for await (const batch of batchesOf(groups, batchSizes, command.signal)) {
      const outcome = await appender.append(batch);
      progress.count(batch, outcome);
    }
  } catch (failure) {
    note(streams, howToGoOn({ ...command, key: sender.id }, progress, failure));
    const told = toldAsInterruption(failure, command.signal);
    throw progress.appended > 0 ? new PartlyDoneError(told) : told;
  }
  await writeResult(streams, command.output, progress.summary(), progress.summaryText());
}

/**
 * A run that completes another has the other's id and a higher epoch: late copies of the other are refused.
 */
function senderOf({ key }: AppendCommand): { readonly id: string; readonly epoch: number } {
  if (key === undefined) return { id: randomBytes(12).toString("hex"), epoch: 0 };
  return { id: key, epoch: Date.now() };
}

/** To a place of its own, or among others' records. */
function appenderOf(
  { resume, matchSeqNum }: AppendCommand,
  fields: LogProducerFields,
  at: number,
  tail: number,
): { append(batch: readonly Uint8Array[]): Promise<BatchOutcome> } {
  if (!resume && matchSeqNum === undefined) return new LogProducer(fields);
  const ordered = new OrderedAppend({ ...fields, mode: resume ? "resume" : "exclusive", at });
  ordered.presentUpTo(tail);
  return ordered;
}

const batchSizes = {
  recordsMax: batchLimits.recordsMax,
  bytesMax: batchLimits.bytesMax,
  recordBytes: batchLimits.recordBytes,
  lingerMs: LINGER_MS,
};

/** What is in the log when a command fails, and how the same input is completed exactly if that can help. */
function howToGoOn(command: AppendCommand, progress: Progress, error: unknown): string {
  const { lines: done, first } = progress;
  if (done === 0 && error instanceof ProblemError && error.code === "log_not_found") {
    const create = fencelineLine({ command: "create", operands: [command.log], options: command.where });
    return `Nothing was appended. Create the log with: ${create}`;
  }
  const inDoubt = error instanceof BatchInDoubtError;
  const place = first === undefined ? "" : `, from seq_num ${first} on`;
  const told = [
    done === 0 && !inDoubt
      ? "Nothing was appended."
      : `${counted(done, "line")} of the input ${done === 1 ? "is" : "are"} in log ${command.log}${place}.`,
  ];
  if (inDoubt) {
    const { count, at } = error;
    const next = count === 1 ? "The next one" : `The next ${grouped(count)}`;
    const where = at === undefined ? "" : count === 1 ? `, at seq_num ${at}` : `, from seq_num ${at} on`;
    told.push(`${next} may be there${count === 1 ? " or not" : ", all of them or none"}${where}.`);
  }
  if (error instanceof UsageError && done > 0) told.push("Mend the input first.");
  else if (!canComplete(error)) return told.join(" ");
  if (first === undefined && done > 0) {
    told.push("Others appended in between: read the log to see which lines are there.");
  } else {
    told.push(completion(command, first ?? command.matchSeqNum ?? progress.at));
  }
  return told.join(" ");
}

/** Not after a comparison that failed, say: the same command would fail again. */
function canComplete(error: unknown): boolean {
  if (error instanceof BatchInDoubtError) return true;
  if (error instanceof InterruptedError || error instanceof AbandonedError) return true;
  return error instanceof RequestError && error.retryable;
}

/** `from` is undefined if the log's end was never learnt: nothing was sent, and the command stays. */
function completion({ log, sources, where, resume, key }: AppendCommand, from: number | undefined): string {
  const named = key === undefined ? [] : ["--key", key];
  const again = resume ? ["--resume"] : [];
  const place = from === undefined ? again : ["--match-seq-num", String(from), "--resume", ...named];
  const same = sources.includes(STDIN) ? " the same input and" : "";
  const parts = { command: "append", operands: [log, ...sources], options: [...place, ...where] };
  return `Complete it with${same}: ${fencelineLine(parts)}`;
}
