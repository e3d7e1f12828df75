/** Appends and their answers as they travel over HTTP; wire.ts says what holds for all schemas. */
import * as z from "zod/mini";
import { limits } from "../protocol/limits.ts";
import { appendLimits } from "../protocol/log/records/append-limits.ts";
import { component, noted, type Sent, type Wire } from "./schema.ts";
import { headerPair, position, seqNum } from "./wire.ts";

export const recordInput = component("RecordInput", () =>
  z.strictObject({
    body: z.string({ error: "must be a string: text, or base 64 with Log-Format: base64" }),
    headers: z.optional(noted(z.array(headerPair()), { maxItems: limits.recordHeadersMax })),
    timestamp: z.optional(
      noted(z.int().check(z.minimum(0)), {
        description: "Wall time in ms; the time of arrival if absent.",
      }),
    ),
  }),
);

/** Of whom the log itself says what is allowed in which order. */
export const producer = component("Producer", () =>
  z.strictObject({
    id: noted(z.string(), {
      minLength: 1,
      maxLength: appendLimits.producerIdLengthMax,
      description: "Printable ASCII without spaces, such as a UUID; one for each producer.",
    }),
    epoch: noted(seqNum(), {
      description: "Grows with each restart of a producer that keeps its id; older ones get 403.",
    }),
    seq: noted(seqNum(), {
      description: "Of the batch's first record: 0 in a new epoch, then dense, one for each record.",
    }),
  }),
);

export const appendBody = component("Append", () =>
  z.strictObject({
    // Their number and sizes are the log's to check.
    records: noted(z.array(recordInput()), { minItems: 1, maxItems: limits.batchRecordsMax }),
    match_seq_num: z.optional(
      noted(seqNum(), {
        description:
          "Append only if the first record gets this seq_num. Makes a repeated append safe: of all " +
          "attempts at one place at most one takes effect. A 412 whose place holds equal records says so: " +
          "equal_records.",
      }),
    ),
    append_token: z.optional(
      noted(z.string(), {
        minLength: 1,
        maxLength: appendLimits.producerIdLengthMax,
        description:
          "With match_seq_num: printable ASCII without spaces, such as a random UUID, the same in all " +
          "attempts at this append and in no other. A 412 then says already_appended if an earlier attempt " +
          "is what took the place, and equal_records if another's equal records did.",
      }),
    ),
    producer: z.optional(
      noted(producer(), {
        description:
          "Makes a repeated append safe: a batch that is in the log already is not appended again.",
      }),
    ),
  }),
);

export const appendAck = component("AppendAck", () =>
  z.object({
    log: z.string(),
    start: noted(position(), { description: "The first record of the batch." }),
    last: noted(position(), { description: "The last record of the batch." }),
    end: noted(seqNum(), { description: "The seq_num after the last record." }),
    tail: seqNum(),
    durable_in: noted(z.array(z.string()), {
      description: "Regions whose bookies hold the batch durably; of a duplicate, those that showed it now.",
    }),
    duplicate: noted(z.boolean(), {
      description: "True: it was in the log before this request; the positions are those it has there.",
    }),
    epoch: noted(z.number(), {
      description: "Number of the log segment; grows with each change of writer.",
    }),
  }),
);

export type AppendJson = Sent<typeof appendBody>;
export type RecordInputJson = Sent<typeof recordInput>;
export type AppendAckJson = Wire<typeof appendAck>;
