/** Records: append, read, tail. */
import { createRoute, z } from "@hono/zod-openapi";
import { logName, type SeqNum, seqNum } from "../protocol/ids.ts";
import { limits } from "../protocol/limits.ts";
import { parseDlsn } from "../protocol/log/dlsn.ts";
import type { ReadPlace } from "../protocol/log/operations.ts";
import { ackAnswer, readAnswer, tailAnswer } from "./answers.ts";
import { readAppend } from "./append-request.ts";
import { appendAck, appendBody } from "./append-wire.ts";
import {
  type ApiApp,
  type ApiOptions,
  answer,
  appendPreferences,
  errorAnswers,
  formatHeader,
  logParams,
  nameOwner,
  recordsHeaders,
} from "./routing.ts";
import { timeAnswer, timingHeader } from "./server-timing.ts";
import { strictQuery } from "./strict-query.ts";
import * as wire from "./wire.ts";

const appendRecords = createRoute({
  method: "post",
  path: "/v1/logs/{log}/records",
  summary: "Appends a batch atomically; answered when an ack quorum in enough regions holds it.",
  description:
    "A repetition, by producer or Idempotency-Key, of a batch that is in the log is answered with the " +
    "positions that it has there, also once the log is sealed. Where log_sealed answers a repetition, " +
    "earlier_attempts says what is known: not_recorded (this batch is not in the log, nor will ever be), " +
    "or not_remembered (it is not among what the log remembers of its last minutes).",
  request: {
    params: logParams,
    headers: recordsHeaders,
    query: strictQuery({
      match_seq_num: wire.seqNumText.optional().openapi({
        description: "With application/octet-stream: append only if the record gets this seq_num.",
      }),
    }),
  },
  responses: { 200: answer(appendAck, "The batch is durable."), ...errorAnswers },
});

const STARTS = ["seq_num", "dlsn", "timestamp", "tail_offset"] as const;

const readRecords = createRoute({
  method: "get",
  path: "/v1/logs/{log}/records",
  summary: "Reads records in order from a seq_num, a DLSN, a time, or a number of records before the tail.",
  request: {
    params: logParams,
    headers: formatHeader.extend(timingHeader.shape),
    query: strictQuery({
      seq_num: wire.seqNumText.optional().openapi({
        description: "The first record wanted; 0 if nothing else says where to begin either.",
      }),
      dlsn: z.string().optional().openapi({
        description: "Begins at the record that has it, or at the first one behind that place.",
      }),
      timestamp: wire.seqNumText.optional().openapi({
        description: "Begins at the first record whose timestamp, in ms, is no lower.",
      }),
      tail_offset: wire.seqNumText.optional().openapi({
        description: "Begins so many records before the tail, or at the first one that is left.",
      }),
      count: wire
        .wholeNumber(1, limits.readRecordsMax)
        .optional()
        .openapi({
          description: `Records, at most; ${limits.readRecordsMax} if absent.`,
          default: limits.readRecordsMax,
        }),
      bytes: wire.wholeNumber(1, limits.readBytesMax).optional().openapi({
        description: "Metered bytes, at most; one record is returned whatever its size.",
      }),
      consistency: wire.consistency.default("strong"),
    }).refine((query) => STARTS.filter((name) => query[name] !== undefined).length <= 1, {
      error: `takes one of ${STARTS.join(", ")}`,
    }),
  },
  responses: { 200: answer(wire.readAnswer, "Records, possibly none at the tail."), ...errorAnswers },
});

const readTail = createRoute({
  method: "get",
  path: "/v1/logs/{log}/records/tail",
  summary: "The seq_num that the next record gets.",
  request: {
    params: logParams,
    headers: timingHeader,
    query: strictQuery({ consistency: wire.consistency.default("strong") }),
  },
  responses: { 200: answer(wire.tailAnswer, "The tail."), ...errorAnswers },
});

export function addRecordRoutes(app: ApiApp, options: ApiOptions): void {
  // The body is read under a limit and in two media types, so only its documentation is declared.
  app.openAPIRegistry.registerPath({
    ...appendRecords,
    request: {
      ...appendRecords.request,
      body: {
        required: true,
        content: {
          "application/json": { schema: appendBody },
          "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
        },
      },
    },
  });
  app.openapi({ ...appendRecords, hide: true }, async (c) => {
    const { log } = c.req.valid("param");
    const { "log-format": format = "utf8", prefer, "idempotency-key": key } = c.req.valid("header");
    const { match_seq_num } = c.req.valid("query");
    const request = await readAppend(c.req.raw, logName(log), format, match_seq_num);
    const idempotent = key === undefined ? {} : { idempotencyKey: key };
    const ack = await options.append.append({ ...request, ...idempotent, ...appendPreferences(prefer) });
    // A duplicate may stand in a segment of long ago, whose epoch is not the owner's.
    nameOwner(c, ack.ownerRegion, ack.duplicate ? undefined : ack.epoch);
    return c.json(ackAnswer(log, ack), 200);
  });
  app.openapi(readRecords, async (c) => {
    const { count, bytes, consistency, ...start } = c.req.valid("query");
    const { "log-format": format = "utf8", prefer } = c.req.valid("header");
    const found = await options.read.read({
      log: logName(c.req.valid("param").log),
      from: startOf(start),
      limit: count ?? limits.readRecordsMax,
      ...(bytes === undefined ? {} : { bytesMax: bytes }),
      consistency,
    });
    c.header("Log-Format", format);
    timeAnswer(c, prefer, found.cost);
    return c.json(readAnswer(found, format), 200);
  });
  app.openapi(readTail, async (c) => {
    const { consistency } = c.req.valid("query");
    const tail = await options.read.tail(logName(c.req.valid("param").log), consistency);
    nameOwner(c, tail.ownerRegion);
    timeAnswer(c, c.req.valid("header").prefer, tail.cost);
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
