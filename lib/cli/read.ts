/** `fenceline read`: records of a log to standard output, up to where it ended when the command began. */
import type { LogRecordJson } from "../api/wire.ts";
import type { Consistency, LogClient, ReadFrom } from "../client/log-client.ts";
import { readRange } from "../client/read-range.ts";
import type { ReadTimings } from "../client/read-timings.ts";
import { type Patience, retrying } from "../client/retry.ts";
import { NotFoundError } from "./exit-codes.ts";
import { note, type Streams, writeData } from "./output.ts";
import { inSnakeCase } from "./wire-names.ts";

export type ReadFormat = "text" | "json" | "base64";

interface ReadCommand {
  readonly client: LogClient;
  /** Takes what the reads cost, which is printed at the end. */
  readonly timings?: ReadTimings;
  readonly streams: Streams;
  readonly log: string;
  readonly from: ReadFrom;
  /** Records, at most; up to the tail if absent. */
  readonly limit?: number;
  readonly format: ReadFormat;
  readonly consistency: Consistency;
  readonly patience: Patience;
}

export async function readCommand(command: ReadCommand): Promise<void> {
  const { timings, streams, format } = command;
  if (timings === undefined) return await copyRecords(command);
  const client = command.client.telling((header) => timings.add(header));
  try {
    await copyRecords({ ...command, client });
  } finally {
    noteTimings(streams, format, timings);
  }
}

async function copyRecords(command: ReadCommand): Promise<void> {
  const { client, streams, log, limit, consistency, patience } = command;
  const { tail, up_to_date } = await retrying(patience, client, (bounded) => bounded.tail(log, consistency));
  const from = await startOf(command, tail);
  if (from > tail && up_to_date)
    throw new NotFoundError(`log ${log} ends at seq_num ${tail}, before ${from}`);
  const end = limit === undefined ? tail : Math.min(tail, from + limit);
  for await (const page of readRange(client, { log, from, end, consistency }, patience)) {
    await writeData(streams, printed(page, command.format));
  }
  if (!up_to_date && end === tail) {
    note(streams, `read up to seq_num ${end}; whether the log goes on there is not known to this region now`);
  }
}

function noteTimings(streams: Streams, format: ReadFormat, timings: ReadTimings): void {
  const { sums } = timings;
  const json = { timing: { ...inSnakeCase(sums), winners: Object.fromEntries(sums.winners) } };
  note(streams, format === "json" ? JSON.stringify(json) : timings.text);
}

/** The seq_num to begin at; no more than the tail if the log was asked to find it. */
async function startOf({ client, log, from, consistency, patience }: ReadCommand, tail: number) {
  if (typeof from === "number") return from;
  const options = { from, count: 1, consistency, format: "base64" } as const;
  const { records, next } = await retrying(patience, client, (bounded) => bounded.read(log, options));
  return Math.min(tail, records[0]?.seq_num ?? next);
}

/** Text is each body and a newline, byte for byte, so that a file of lines comes out as it went in. */
function printed(records: readonly LogRecordJson[], format: ReadFormat): Buffer {
  const lines = records.map((record) => {
    if (format === "base64") return Buffer.from(`${record.body}\n`);
    if (format === "json") return Buffer.from(`${JSON.stringify(jsonRecord(record))}\n`);
    return Buffer.concat([Buffer.from(record.body, "base64"), NEWLINE]);
  });
  return Buffer.concat(lines);
}

const NEWLINE = Buffer.from("\n");

/** Bytes as text where they are text, else as base 64 under a name that says so. */
function jsonRecord({ seq_num, dlsn, timestamp, headers, body }: LogRecordJson) {
  const pairs = headers.map(([name, value]) => [textOf(name), textOf(value)] as const);
  const areText = pairs.every((pair) => pair.every((part) => part !== undefined));
  const text = textOf(body);
  return {
    seq_num,
    dlsn,
    timestamp,
    ...(areText ? { headers: pairs } : { headers_base64: headers }),
    ...(text === undefined ? { body_base64: body } : { body: text }),
  };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(base64: string): string | undefined {
  try {
    return decoder.decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}
