/** Records: append, read, tail. */

import * as z from "zod/mini";
import { logName, type SeqNum, seqNum } from "../protocol/ids.ts";
import { limits } from "../protocol/limits.ts";
import type { ReadPlace } from "../protocol/log/operations.ts";
import { parseDlsn } from "../protocol/log/records/record.ts";
import { ackAnswer, readAnswer, tailAnswer } from "./answers.ts";
import { APPEND_BODY_BYTES_MAX, LINE_TYPES, readAppend } from "./append-request.ts";
import { appendAck, appendBody } from "./append-wire.ts";
import { type ApiApp, answer, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import {
  type ApiOptions,
  appendPreferences,
  formatHeader,
  logParams,
  nameOwner,
  recordsHeaders,
} from "./routing.ts";
import { noted, once } from "./schema.ts";
import { timeAnswer, timingHeader } from "./server-timing.ts";
import { strictQuery } from "./strict-query.ts";
import * as wire from "./wire.ts";

/** Of at least one line. */
const lines = once(() => noted(z.string(), { minLength: 1 }));

const appendRecords = route({
  id: "appendRecords",
  method: "post",
  path: "/v1/logs/{log}/records",
  summary: "Appends a batch atomically; answered when an ack quorum in enough regions holds it.",
  request: () => ({
    params: logParams(),
    headers: recordsHeaders(),
    query: strictQuery({
      match_seq_num: z.optional(
        noted(wire.seqNumText(), {
          description:
            "With a body that is not JSON: append only if its first record gets this seq_num. With JSON it " +
            "is refused (400), being a member of the body there.",
        }),
      ),
    }),
  }),
  body: {
    required: true,
    bytesMax: APPEND_BODY_BYTES_MAX,
    description:
      "Records in JSON; or one record a line, the bytes before each newline; or the bytes of one record. " +
      `At most ${limits.batchRecordsMax} records.`,
    content: {
      "application/json": appendBody,
      ...Object.fromEntries([...LINE_TYPES].map((type) => [type, lines])),
      "application/octet-stream": once(() => noted(z.string(), { format: "binary" })),
    },
  },
  problems: problems("body", "metadata", "log", "writes", "append", "log_sealed"),
  answers: { 200: answer(appendAck, "The batch is durable.", ["Log-Owner"]) },
});

const TIMING_HEADERS = ["Server-Timing", "Preference-Applied"] as const;

/** A read names one of them at most. */
const STARTS = ["seq_num", "dlsn", "timestamp", "tail_offset"] as const;

function readQuery() {
  const alone = `Not together with another of ${STARTS.join(", ")}.`;
  const start = (text: string) => z.optional(noted(wire.seqNumText(), { description: `${text} ${alone}` }));
  return strictQuery({
    seq_num: start("The first record wanted; 0 if nothing else says where to begin either."),
    dlsn: z.optional(
      noted(wire.dlsnText(), {
        description: `Begins at the record that has it, or at the first one behind that place. ${alone}`,
      }),
    ),
    timestamp: start("Begins at the first record whose timestamp, in ms, is no lower."),
    tail_offset: start("Begins so many records before the tail, or at the first one that is left."),
    count: z.optional(
      noted(wire.wholeNumber(1, limits.readRecordsMax), {
        description: `Records, at most; ${limits.readRecordsMax} if absent.`,
        default: limits.readRecordsMax,
      }),
    ),
    bytes: z.optional(
      noted(wire.wholeNumber(1, limits.readBytesMax), {
        description:
          `Metered bytes, at most; ${limits.readBytesMax} if absent. One record is returned ` +
          "whatever its size.",
        default: limits.readBytesMax,
      }),
    ),
    consistency: z._default(wire.consistency(), "strong"),
  }).check(
    z.refine((query) => STARTS.filter((name) => query[name] !== undefined).length <= 1, {
      error: `takes one of ${STARTS.join(", ")}`,
    }),
  );
}

const readRecords = route({
  id: "readRecords",
  method: "get",
  path: "/v1/logs/{log}/records",
  summary: "Reads records in order from a seq_num, a DLSN, a time, or a number of records before the tail.",
  request: () => ({
    params: logParams(),
    headers: z.extend(formatHeader(), timingHeader().shape),
    query: readQuery(),
  }),
  problems: problems("metadata", "log", "position_trimmed", "position_unwritten", "not_utf8"),
  answers: {
    200: answer(wire.readAnswer, "Records, possibly none at the tail.", ["Log-Format", ...TIMING_HEADERS]),
  },
});

const readTail = route({
  id: "readTail",
  method: "get",
  path: "/v1/logs/{log}/records/tail",
  summary: "The seq_num that the next record gets.",
  request: () => ({
    params: logParams(),
    headers: timingHeader(),
    query: strictQuery({ consistency: z._default(wire.consistency(), "strong") }),
  }),
  problems: problems("metadata", "log"),
  answers: { 200: answer(wire.tailAnswer, "The tail.", ["Log-Owner", ...TIMING_HEADERS]) },
});

export function addRecordRoutes(app: ApiApp, options: ApiOptions): void {
  app.serve(appendRecords, async (c, { params, headers, query }) => {
    const { log } = params;
    const { "log-format": format = "utf8", prefer, "idempotency-key": key } = headers;
    const request = await readAppend(c.req.raw, logName(log), format, query, key);
    const ack = await options.append.append({ ...request, ...appendPreferences(prefer) });
    // A duplicate may stand in a segment of long ago, whose epoch is not the owner's.
    nameOwner(c, ack.ownerRegion, ack.duplicate ? undefined : ack.epoch);
    return c.json(ackAnswer(log, ack), 200);
  });
  app.serve(readRecords, async (c, { params, headers, query }) => {
    const { count, bytes, consistency, ...start } = query;
    const { "log-format": format = "utf8", prefer } = headers;
    const found = await options.read.read({
      log: logName(params.log),
      from: startOf(start),
      limit: count ?? limits.readRecordsMax,
      ...(bytes === undefined ? {} : { bytesMax: bytes }),
      consistency,
      signal: c.req.raw.signal,
    });
    c.header("Log-Format", format);
    timeAnswer(c, prefer, found.cost);
    return c.json(readAnswer(found, format), 200);
  });
  app.serve(readTail, async (c, { params, headers, query }) => {
    const tail = await options.read.tail(logName(params.log), query.consistency, c.req.raw.signal);
    nameOwner(c, tail.ownerRegion);
    timeAnswer(c, headers.prefer, tail.cost);
    return c.json(tailAnswer(tail), 200);
  });
}

/** Where a read begins. Throws `invalid_request` if the DLSN is none. */
function startOf(start: {
  readonly seq_num?: number | undefined;
  readonly dlsn?: string | undefined;
  readonly timestamp?: number | undefined;
  readonly tail_offset?: number | undefined;
}): SeqNum | ReadPlace {
  const { seq_num = 0, dlsn, timestamp, tail_offset } = start;
  if (dlsn !== undefined) return { kind: "dlsn", dlsn: parseDlsn(dlsn) };
  if (timestamp !== undefined) return { kind: "timestamp", timestampMs: timestamp };
  if (tail_offset !== undefined) return { kind: "tail-offset", count: tail_offset };
  return seqNum(seq_num);
}
