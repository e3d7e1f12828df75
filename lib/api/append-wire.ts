/** Appends and their answers as they travel over HTTP; wire.ts says what holds for all schemas. */
import { z } from "@hono/zod-openapi";
import { limits } from "../protocol/limits.ts";
import { appendLimits } from "../protocol/log/append-limits.ts";
import { headerPair, position, seqNum } from "./wire.ts";

export const recordInput = z
  .strictObject({
    body: z.string({ error: "must be a string: text, or base 64 with Log-Format: base64" }),
    headers: z.array(headerPair).optional().openapi({ maxItems: limits.recordHeadersMax }),
    timestamp: z
      .int()
      .min(0)
      .optional()
      .openapi({ description: "Wall time in ms; the time of arrival if absent." }),
  })
  .openapi("RecordInput");

/** Of whom the log itself says what is allowed in which order. */
export const producer = z
  .strictObject({
    id: z.string().openapi({
      minLength: 1,
      maxLength: appendLimits.producerIdLengthMax,
      description: "Printable ASCII without spaces, such as a UUID; one for each producer.",
    }),
    epoch: seqNum.openapi({
      type: "integer",
      description: "Grows with each restart of a producer that keeps its id; older ones get 403.",
    }),
    seq: seqNum.openapi({
      type: "integer",
      description: "Of the batch's first record: 0 in a new epoch, then dense, one for each record.",
    }),
  })
  .openapi("Producer");

export const appendBody = z
  .strictObject({
    // Their number and sizes are the log's to check.
    records: z.array(recordInput).openapi({ minItems: 1, maxItems: limits.batchRecordsMax }),
    match_seq_num: seqNum.optional().openapi({
      type: "integer",
      description:
        "Append only if the first record gets this seq_num. Makes a repeated append safe: of all attempts " +
        "at one place at most one takes effect. A 412 whose place holds equal records says equal_records.",
    }),
    append_token: z
      .string()
      .optional()
      .openapi({
        minLength: 1,
        maxLength: appendLimits.producerIdLengthMax,
        description:
          "With match_seq_num: printable ASCII without spaces, such as a random UUID, the same in all " +
          "attempts at this append and in no other. A 412 then says already_appended if an earlier attempt " +
          "is what took the place, and equal_records if another's equal records did.",
      }),
    producer: producer.optional().openapi({
      description: "Makes a repeated append safe: a batch that is in the log already is not appended again.",
    }),
  })
  .openapi("Append");

export const appendAck = z
  .object({
    log: z.string(),
    start: position.openapi({ description: "The first record of the batch." }),
    last: position.openapi({ description: "The last record of the batch." }),
    end: seqNum.openapi({ type: "integer", description: "The seq_num after the last record." }),
    tail: seqNum,
    durable_in: z.array(z.string()).openapi({
      description: "Regions whose bookies hold the batch durably; of a duplicate, those that showed it now.",
    }),
    duplicate: z.boolean().openapi({
      description: "True: it was in the log before this request; the positions are those it has there.",
    }),
    epoch: z
      .number()
      .openapi({ description: "Number of the log segment; grows with each change of writer." }),
  })
  .openapi("AppendAck");

export type AppendJson = z.input<typeof appendBody>;
export type RecordInputJson = z.input<typeof recordInput>;
export type AppendAckJson = z.infer<typeof appendAck>;
