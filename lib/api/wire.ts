/**
 * What travels over HTTP, as schemas: the requests are checked by them, and the OpenAPI document is made
 * from them. Names are snake_case. Objects are strict, because a misspelt `match_seq_num` that went
 * unnoticed would make a conditional append unconditional.
 */
import * as z from "zod/mini";
import { configNumberRows, type DefaultedWireNumber, type WireNumber } from "../protocol/log-config.ts";
import { preferredRegion } from "./owner-wire.ts";
import { component, noted, once, type Sent, type Wire } from "./schema.ts";

const SEQ_NUM_MAX = Number.MAX_SAFE_INTEGER;

const seqNumRange = `an integer from 0 to ${SEQ_NUM_MAX} (2^53 - 1)`;
export const seqNum = once(() =>
  noted(
    z
      .number({ error: `must be ${seqNumRange}` })
      .check(
        z.refine((value) => Number.isSafeInteger(value) && value >= 0, { error: `must be ${seqNumRange}` }),
      ),
    { type: "integer", minimum: 0, maximum: SEQ_NUM_MAX },
  ),
);

/** A whole number in a JSON body. */
export function wholeNumberInJson(min: number, max = SEQ_NUM_MAX) {
  const error = `must be an integer from ${min} to ${max}`;
  return z.int({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }));
}

/** A whole number in a query string or a path. */
export function wholeNumber(min: number, max: number) {
  const text = z.string().check(
    z.refine((given) => /^\d{1,16}$/.test(given) && Number(given) >= min && Number(given) <= max, {
      error: `must be an integer from ${min} to ${max}`,
    }),
  );
  const number = z.pipe(
    text,
    z.transform((given: string) => Number(given)),
  );
  return noted(number, { type: "integer", minimum: min, maximum: max });
}

export const seqNumText = once(() => wholeNumber(0, SEQ_NUM_MAX));
export const ledgerIdText = seqNumText;
export const consistency = once(() => z.enum(["strong", "local"], { error: "must be strong or local" }));
export const logFormat = once(() => z.enum(["utf8", "base64"], { error: "must be utf8 or base64" }));

export const headerPair = once(() => noted(z.tuple([z.string(), z.string()]), { minItems: 2, maxItems: 2 }));

const dlsn = once(() =>
  noted(z.string(), {
    description: "Log segment, entry of its ledger, slot of the entry.",
    example: "0000000000000001-0000000000000000-00000",
  }),
);

const DLSN_PATTERN = "^(?!0{16})[0-8][0-9]{15}-[0-8][0-9]{15}-[0-9]{5}$";

/** One that is given: as a record may have it. */
export const dlsnText = once(() =>
  noted(
    z.string().check(
      z.regex(new RegExp(DLSN_PATTERN), {
        error:
          "is no DLSN; it has the form 0000000000000001-0000000000000000-00000 (segment from 1, entry, " +
          "slot); use one that an append or a read returned",
      }),
    ),
    { pattern: DLSN_PATTERN },
  ),
);

export const position = component("Position", () =>
  z.object({ seq_num: seqNum(), dlsn: dlsn(), timestamp: z.number() }),
);

export const logRecord = component("LogRecord", () =>
  z.object({
    seq_num: seqNum(),
    dlsn: dlsn(),
    timestamp: z.number(),
    headers: z.array(headerPair()),
    body: z.string(),
  }),
);

const sealed = once(() =>
  noted(z.boolean(), {
    description: "True: the log ends at `tail` for ever. False: it goes on, or its end was not read.",
  }),
);

export const readAnswer = component("ReadAnswer", () =>
  z.object({
    records: z.array(logRecord()),
    next: noted(seqNum(), { description: "Where to read on." }),
    tail: noted(seqNum(), {
      description:
        "The seq_num that the next record gets, if `up_to_date`; else how far this read saw, and no more. " +
        "GET /v1/logs/{log}/records/tail tells how far there is to go.",
    }),
    up_to_date: noted(z.boolean(), {
      description:
        "True: nothing was at `tail` while this read ran. False: `tail` is a lower bound. A page that " +
        "count or bytes cut did not look further, so it is false there, even where `next` equals `tail`: " +
        "read on.",
    }),
    sealed: sealed(),
  }),
);

export const tailAnswer = component("Tail", () =>
  z.object({
    tail: noted(seqNum(), {
      description: "The seq_num that the next record gets, or a higher one does if `up_to_date` is false.",
    }),
    up_to_date: noted(z.boolean(), {
      description: "True: the log ended at `tail` during this request. False: `tail` is a lower bound.",
    }),
    sealed: sealed(),
    owner: z.optional(z.string()),
  }),
);

const atLeastOne = () => wholeNumberInJson(1);

const SIZES_ORDER = "ensemble_size >= write_quorum >= ack_quorum >= min_regions";

export const replication = component(
  "Replication",
  () =>
    z
      .strictObject({
        ensemble_size: atLeastOne(),
        write_quorum: atLeastOne(),
        ack_quorum: atLeastOne(),
        min_regions: atLeastOne(),
      })
      .check(
        z.refine(
          (sizes) =>
            sizes.ensemble_size >= sizes.write_quorum &&
            sizes.write_quorum >= sizes.ack_quorum &&
            sizes.ack_quorum >= sizes.min_regions,
          { error: `must keep ${SIZES_ORDER}` },
        ),
      ),
  {
    description:
      `${SIZES_ORDER}. A creation is refused (400) if the bookies that there are cannot hold such a log, ` +
      "or if the loss of a region could hide what was acknowledged.",
  },
);

export const digest = once(() => z.enum(["crc32", "hmac-sha256"], { error: "must be crc32 or hmac-sha256" }));
export const preset = once(() => z.enum(["standard", "economy", "resilient"]));

type OptionalNumber = z.ZodMiniOptional<z.ZodMiniNumber>;

function numbersGiven(): Record<WireNumber, OptionalNumber> {
  const rows = configNumberRows.map(([, { wire, min, max }]) => {
    return [wire, z.optional(wholeNumberInJson(min, max))] as const;
  });
  return Object.fromEntries(rows) as unknown as Record<WireNumber, OptionalNumber>;
}

type NumbersAnswered = Record<DefaultedWireNumber, z.ZodMiniNumber> &
  Record<Exclude<WireNumber, DefaultedWireNumber>, OptionalNumber>;

function numbersAnswered(): NumbersAnswered {
  const rows = configNumberRows.map(([, row]) => {
    return [row.wire, row.default === undefined ? z.optional(z.number()) : z.number()] as const;
  });
  return Object.fromEntries(rows) as unknown as NumbersAnswered;
}

/** All of it optional: what is left out is as the deployment says. */
export const createBody = component(
  "CreateLog",
  () =>
    z
      .strictObject({
        preset: z.optional(preset()),
        replication: z.optional(replication()),
        digest: z.optional(digest()),
        ...numbersGiven(),
        preferred_region: z.optional(preferredRegion()),
      })
      .check(
        z.refine((body) => body.preset === undefined || body.replication === undefined, {
          error: "takes a preset or a replication, not both",
        }),
      ),
  {
    description: "What is left out is as the deployment says. A preset or a replication, not both.",
    not: { required: ["preset", "replication"] },
  },
);

const logShape = () => ({
  log: z.string(),
  incarnation: z.string(),
  state: noted(z.enum(["active", "sealed", "deleting"]), {
    description:
      "sealed: nothing is appended any more, everything can be read. Told by GET; what creates or changes " +
      "a log does not look for its end, and says active.",
  }),
  config: z.object({
    replication: replication(),
    digest: digest(),
    ...numbersAnswered(),
  }),
  first_seq_num: noted(seqNum(), { description: "Records below this one are gone." }),
  created_at: noted(z.number(), { description: "Wall time in ms." }),
  preferred_region: z.optional(preferredRegion()),
});

export const logDescription = component("Log", () => z.object(logShape()));

/** The answer to a creation. */
export const createdLog = component("CreatedLog", () =>
  z.object({
    ...logShape(),
    warnings: noted(z.array(z.string()), {
      description: "Which of the present regions could not host the log, were the others lost.",
    }),
  }),
);

export const logPage = component("LogPage", () =>
  z.object({ logs: z.array(z.string()), has_more: z.boolean() }),
);

const segment = component("Segment", () =>
  z.object({
    number: noted(z.number(), { description: "The epoch that acks and Log-Owner name it by." }),
    first_seq_num: seqNum(),
    ledger_id: z.number(),
    owner: z.string(),
    created_at: z.number(),
    end: z.optional(seqNum()),
    last_entry: z.optional(z.number()),
    last_timestamp: z.optional(z.number()),
    bytes: z.optional(z.number()),
  }),
);

export const segmentList = component("SegmentList", () => z.object({ segments: z.array(segment()) }));

/** A ledger for people and programs; its digest key stays inside. */
export const ledgerDescription = component("Ledger", () => {
  const member = z.object({ bookie: z.string(), region: z.string(), rack: z.string() });
  const fragment = z.object({ first_entry: z.number(), ensemble: z.array(member) });
  return z.object({
    ledger_id: z.number(),
    state: z.enum(["OPEN", "IN_RECOVERY", "CLOSED", "DELETED"]),
    replication: replication(),
    digest: digest(),
    fragments: z.array(fragment),
    retired: z.array(z.string()),
    last_entry: z.optional(noted(z.number(), { description: "-1 if the closed ledger is empty." })),
    length: z.optional(z.number()),
    origin: z.optional(z.object({ incarnation: z.string(), first_seq_num: seqNum(), owner: z.string() })),
    created_at: z.number(),
    deleted_at: z.optional(z.number()),
  });
});

export const settled = component("Settled", () => z.object({ log: z.string(), settled: z.literal(true) }));

export const problem = component("Problem", () =>
  z.looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    detail: noted(z.string(), { description: "The value given, the limit, the remedy." }),
    instance: z.string(),
    code: z.string(),
    retry_after_ms: z.optional(
      noted(z.number(), { description: "If retryable: when to try again; Retry-After has it in seconds." }),
    ),
    error_count: z.optional(
      noted(z.number(), { description: "How many faults there are at least, where `errors` has not all." }),
    ),
    errors: z.optional(
      noted(z.array(z.object({ pointer: z.string(), detail: z.string() })), {
        description:
          "With invalid_request: each fault and where it stands, as a JSON pointer (RFC 6901) into the " +
          "request's path, query, header and body, such as /body/records/0/timestamp.",
      }),
    ),
    retryable: z.boolean(),
    side_effects: z.enum(["none", "possible"]),
  }),
);

export type LogRecordJson = Wire<typeof logRecord>;
export type ReadAnswerJson = Wire<typeof readAnswer>;
export type TailJson = Wire<typeof tailAnswer>;
export type CreateLogJson = Sent<typeof createBody>;
export type LogJson = Wire<typeof logDescription>;
export type CreatedLogJson = Wire<typeof createdLog>;
export type LogPageJson = Wire<typeof logPage>;
export type SegmentListJson = Wire<typeof segmentList>;
export type LedgerJson = Wire<typeof ledgerDescription>;
