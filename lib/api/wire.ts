/**
 * What travels over HTTP, as schemas: the requests are checked by them, and the OpenAPI document is made
 * from them. Names are snake_case. Objects are strict, because a misspelt `match_seq_num` that went
 * unnoticed would make a conditional append unconditional.
 */
import { z } from "@hono/zod-openapi";
import { preferredRegion } from "./owner-wire.ts";

const SEQ_NUM_MAX = Number.MAX_SAFE_INTEGER;

const seqNumRange = `an integer from 0 to ${SEQ_NUM_MAX} (2^53 - 1)`;
export const seqNum = z
  .number({ error: `must be ${seqNumRange}` })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, { error: `must be ${seqNumRange}` })
  .openapi({ type: "integer", minimum: 0, maximum: SEQ_NUM_MAX });

/** A whole number in a query string or a path. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be an integer from ${min} to ${max}`,
    })
    .transform(Number)
    .openapi({ type: "integer", minimum: min, maximum: max });
}

export const seqNumText = wholeNumber(0, SEQ_NUM_MAX);
export const ledgerIdText = wholeNumber(0, SEQ_NUM_MAX);
export const consistency = z.enum(["strong", "local"], { error: "must be strong or local" });
export const logFormat = z.enum(["utf8", "base64"], { error: "must be utf8 or base64" });

export const headerPair = z.tuple([z.string(), z.string()]);

const dlsn = z.string().openapi({
  description: "Log segment, entry of its ledger, slot of the entry.",
  example: "0000000000000001-0000000000000000-00000",
});

export const position = z.object({ seq_num: seqNum, dlsn, timestamp: z.number() }).openapi("Position");

export const logRecord = z
  .object({
    seq_num: seqNum,
    dlsn,
    timestamp: z.number(),
    headers: z.array(headerPair),
    body: z.string(),
  })
  .openapi("LogRecord");

const sealed = z.boolean().openapi({
  description: "True: the log ends at `tail` for ever. False: it goes on, or its end was not read.",
});

export const readAnswer = z
  .object({
    records: z.array(logRecord),
    next: seqNum.openapi({ type: "integer", description: "Where to read on." }),
    tail: seqNum,
    up_to_date: z.boolean().openapi({
      description: "True: nothing was at `tail` while this read ran. False: `tail` is a lower bound.",
    }),
    sealed,
  })
  .openapi("ReadAnswer");

export const tailAnswer = z
  .object({
    tail: seqNum.openapi({
      type: "integer",
      description: "The seq_num that the next record gets, or a higher one does if `up_to_date` is false.",
    }),
    up_to_date: z.boolean().openapi({
      description: "True: the log ended at `tail` during this request. False: `tail` is a lower bound.",
    }),
    sealed,
    owner: z.string().optional(),
  })
  .openapi("Tail");

export const replication = z
  .strictObject({
    ensemble_size: z.int().min(1),
    write_quorum: z.int().min(1),
    ack_quorum: z.int().min(1),
    min_regions: z.int().min(1),
  })
  .refine(
    (sizes) =>
      sizes.ensemble_size >= sizes.write_quorum &&
      sizes.write_quorum >= sizes.ack_quorum &&
      sizes.ack_quorum >= sizes.min_regions,
    { error: "must keep ensemble_size >= write_quorum >= ack_quorum >= min_regions" },
  )
  .openapi("Replication");

const SEGMENT_BYTES_MIN = 1024;
const SEGMENT_BYTES_MAX = 2 ** 40;
const SEGMENT_AGE_MIN_MS = 1_000;
const SEGMENT_AGE_MAX_MS = 366 * 24 * 60 * 60_000;

export const digest = z.enum(["crc32", "hmac-sha256"], { error: "must be crc32 or hmac-sha256" });
export const preset = z.enum(["standard", "economy", "resilient"]);

/** All of it optional: what is left out is as the deployment says. */
export const createBody = z
  .strictObject({
    preset: preset.optional(),
    replication: replication.optional(),
    digest: digest.optional(),
    segment_bytes_max: z.int().min(SEGMENT_BYTES_MIN).max(SEGMENT_BYTES_MAX).optional(),
    segment_age_max_ms: z.int().min(SEGMENT_AGE_MIN_MS).max(SEGMENT_AGE_MAX_MS).optional(),
    preferred_region: preferredRegion.optional(),
  })
  .refine((body) => body.preset === undefined || body.replication === undefined, {
    error: "takes a preset or a replication, not both",
  })
  .openapi("CreateLog");

export const logDescription = z
  .object({
    log: z.string(),
    incarnation: z.string(),
    state: z.enum(["active", "deleting"]),
    config: z.object({ replication, digest, segment_bytes_max: z.number(), segment_age_max_ms: z.number() }),
    first_seq_num: seqNum.openapi({ type: "integer", description: "Records below this one are gone." }),
    created_at: z.number().openapi({ description: "Wall time in ms." }),
    preferred_region: preferredRegion.optional(),
  })
  .openapi("Log");

/** The answer to a creation. */
export const createdLog = z
  .object({
    ...logDescription.shape,
    warnings: z.array(z.string()).openapi({
      description: "Which of the present regions could not host the log, were the others lost.",
    }),
  })
  .openapi("CreatedLog");

export const logPage = z.object({ logs: z.array(z.string()), has_more: z.boolean() }).openapi("LogPage");

const segment = z
  .object({
    number: z.number(),
    first_seq_num: seqNum,
    ledger_id: z.number(),
    owner: z.string(),
    created_at: z.number(),
    end: seqNum.optional(),
    last_entry: z.number().optional(),
    last_timestamp: z.number().optional(),
    bytes: z.number().optional(),
  })
  .openapi("Segment");

export const segmentList = z.object({ segments: z.array(segment) }).openapi("SegmentList");

const member = z.object({ bookie: z.string(), region: z.string(), rack: z.string() });
const fragment = z.object({ first_entry: z.number(), ensemble: z.array(member) });

/** A ledger for people and programs; its digest key stays inside. */
export const ledgerDescription = z
  .object({
    ledger_id: z.number(),
    state: z.enum(["OPEN", "IN_RECOVERY", "CLOSED", "DELETED"]),
    replication,
    digest,
    fragments: z.array(fragment),
    retired: z.array(z.string()),
    last_entry: z.number().optional().openapi({ description: "-1 if the closed ledger is empty." }),
    length: z.number().optional(),
    origin: z.object({ incarnation: z.string(), first_seq_num: seqNum, owner: z.string() }).optional(),
    created_at: z.number(),
    deleted_at: z.number().optional(),
  })
  .openapi("Ledger");

export const settled = z.object({ log: z.string(), settled: z.literal(true) }).openapi("Settled");

export const problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    detail: z.string().openapi({ description: "The value given, the limit, the remedy." }),
    instance: z.string(),
    code: z.string(),
    retryable: z.boolean(),
    side_effects: z.enum(["none", "possible"]),
  })
  .openapi("Problem");

export type LogRecordJson = z.infer<typeof logRecord>;
export type ReadAnswerJson = z.infer<typeof readAnswer>;
export type TailJson = z.infer<typeof tailAnswer>;
export type CreateLogJson = z.input<typeof createBody>;
export type LogJson = z.infer<typeof logDescription>;
export type CreatedLogJson = z.infer<typeof createdLog>;
export type LogPageJson = z.infer<typeof logPage>;
export type SegmentListJson = z.infer<typeof segmentList>;
export type LedgerJson = z.infer<typeof ledgerDescription>;
