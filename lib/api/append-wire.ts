/** Appends and their answers as they travel over HTTP; wire.ts says what holds for all schemas. */
import * as z from "zod/mini";
import { limits } from "../protocol/limits.ts";
import { senderNameNotes } from "./append-sender.ts";
import { component, noted, type Sent, type Wire } from "./schema.ts";
import { headerPair, position, seqNum, wholeNumberInJson } from "./wire.ts";

export const recordInput = component("RecordInput", () =>
  z.strictObject({
    body: noted(z.string({ error: "must be a string: text, or base 64 with Log-Format: base64" }), {
      description: `A record has at most ${limits.batchBytesMax} metered bytes: 8, 2 a header, its own.`,
    }),
    headers: z.optional(
      noted(z.array(headerPair()), {
        maxItems: limits.recordHeadersMax,
        description: `Names and values, of at most ${limits.recordHeaderBytesMax} bytes together.`,
      }),
    ),
    timestamp: z.optional(
      noted(wholeNumberInJson(0), {
        description:
          `Wall time in ms, at most ${limits.timestampAheadMaxMs} ms ahead of the server's clock ` +
          "(400); the time of arrival if absent.",
      }),
    ),
  }),
);

/** Of whom the log itself says what is allowed in which order. */
const producer = component("Producer", () =>
  z.strictObject({
    id: noted(z.string(), {
      ...senderNameNotes,
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
    records: noted(z.array(recordInput()), {
      minItems: 1,
      maxItems: limits.batchRecordsMax,
      description: `At most ${limits.batchBytesMax} metered bytes together.`,
    }),
    match_seq_num: z.optional(
      noted(seqNum(), {
        description:
          "Append only if the first record gets this seq_num: of all attempts at one place at most one " +
          "takes effect. Give an Idempotency-Key or a producer too, the same in each attempt: a repetition " +
          "is then answered with the positions that the batch has, wherever the log ends by now. Without " +
          "one nobody can say after a 412 whether an earlier attempt took the place. An append that gets " +
          "412 leaves its key or seq unused.",
      }),
    ),
    producer: z.optional(
      noted(producer(), {
        description:
          "Makes a repeated append safe: a batch that is in the log already is not appended again. Not " +
          "together with an Idempotency-Key.",
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
    durable_in: z.optional(
      noted(z.array(z.string()), {
        description: "Regions whose bookies hold the batch durably; absent of a duplicate.",
      }),
    ),
    duplicate: noted(z.boolean(), {
      description: "True: it was in the log before this request; the positions are those it has there.",
    }),
    epoch: noted(z.number(), {
      description: "Number of the log segment; grows with each change of writer.",
    }),
  }),
);

export type AppendJson = Sent<typeof appendBody>;
export type AppendAckJson = Wire<typeof appendAck>;
