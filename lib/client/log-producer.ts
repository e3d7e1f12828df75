/**
 * Appends to a log as a producer: each batch is in the log once and behind the one before, whatever is lost
 * on the way and whatever other callers append.
 *
 * LP1 One batch at a time is under way, in the order of the calls. It is sent again under its own seq until
 *     it is acknowledged, refused, or the patience ends; of all its copies, late ones too, one counts.
 * LP2 A seq is given to other records only if the batch that had it is certainly not in the log.
 * LP3 After a batch that stays in doubt the next one begins a new epoch: a copy that is still on its way is
 *     refused from then on, and the order holds.
 * LP4 A producer that the log has forgotten begins anew, with a higher epoch, so that no late copy of a batch
 *     of before fits in again; unless the batch is in doubt: then nobody knows any more. Its very first batch
 *     the log takes whether it has forgotten it or not: in doubt it is sent again only while it is remembered
 *     if it is there, by both clocks, since a host may sleep for days between two attempts.
 * LP5 A batch may have a place of its own: the log judges who sends it before it looks at the place. So a
 *     batch whose place is taken is not in the log, and none of its copies gets there any more.
 */
import type { AppendAckJson } from "../api/append-wire.ts";
import { Age } from "../protocol/deadline.ts";
import { limits } from "../protocol/limits.ts";
import { appendLimits } from "../protocol/log/records/append-limits.ts";
import { BatchInDoubtError, type BatchOutcome } from "./batch-outcome.ts";
import { hasProblemCode, type ProblemError, RequestError } from "./client-errors.ts";
import { HOST_CLOCKS } from "./host-clocks.ts";
import type { LogClient } from "./log-client.ts";
import { wireTexts } from "./record-texts.ts";
import { type Patience, Retries } from "./retry.ts";

export interface LogProducerFields extends Patience {
  readonly client: LogClient;
  readonly log: string;
  /** Names this producer and no other: random, unless it is to be taken up again with a higher epoch. */
  readonly id: string;
  /** Higher than any that this id had before; 0 if absent. */
  readonly epoch?: number;
}

/** What fits into one append, for callers who make up batches themselves. */
export const batchLimits = {
  recordsMax: limits.batchRecordsMax,
  /** Metered bytes of a batch, and of a record. */
  bytesMax: limits.batchBytesMax,
  /** Metered bytes of a record without headers, beside its body. */
  recordBytes: 8,
} as const;

/** Outcomes that the server does not know, though a repetition finds them out. */
const REPEATABLE = ["unknown_outcome", "insufficient_regions"] as const;

export class LogProducer {
  #epoch: number;
  #seq = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly fields: LogProducerFields) {
    this.#epoch = fields.epoch ?? 0;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /**
   * `at`: the seq_num that the first record must get. Throws BatchInDoubtError, or the RequestError of a
   * batch that is not in the log.
   */
  append(records: readonly Uint8Array[], at?: number): Promise<BatchOutcome> {
    const appended = this.#last.then(() => this.#append(records, at)); // LP1
    this.#last = appended.catch(() => undefined);
    return appended;
  }

  async #append(records: readonly Uint8Array[], at: number | undefined): Promise<BatchOutcome> {
    const retries = new Retries(this.fields);
    let inDoubt: Age | undefined;
    for (;;) {
      const sentAt = new Age(HOST_CLOCKS);
      try {
        const ack = await this.#send(records, at, retries.requestMs);
        this.#seq += records.length;
        return { kind: "appended", ack };
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        if (inDoubt === undefined && this.#wasForgotten(error)) {
          this.#beginEpoch(); // LP4
          continue;
        }
        if (error.sideEffects === "possible") inDoubt ??= sentAt;
        const mayRetry = error.retryable || REPEATABLE.some((code) => hasProblemCode(error, code));
        if (mayRetry && (await retries.next(error)) && this.#isRemembered(inDoubt)) continue;
        if (inDoubt === undefined || isRuledOut(error)) throw error; // LP2
        this.#beginEpoch(); // LP3
        throw new BatchInDoubtError(at, records.length, error);
      }
    }
  }

  #send(records: readonly Uint8Array[], at: number | undefined, timeoutMs: number): Promise<AppendAckJson> {
    const { format, texts } = wireTexts(records);
    const { client, log, id } = this.fields;
    const producer = { id, epoch: this.#epoch, seq: this.#seq };
    const place = at === undefined ? {} : { match_seq_num: at };
    const batch = { records: texts.map((body) => ({ body })), producer, ...place };
    return client.within(timeoutMs).append(log, batch, format);
  }

  #beginEpoch(): void {
    this.#epoch += 1;
    this.#seq = 0;
  }

  /** LP4. Whether the log knows of the batch if it was recorded at that time. */
  #isRemembered(recordedAt: Age | undefined): boolean {
    if (recordedAt === undefined || this.#seq > 0) return true; // Else the log reports a gap.
    return recordedAt.isWithin(appendLimits.producerWindowMs);
  }

  #wasForgotten(error: RequestError): error is ProblemError {
    const isGap = hasProblemCode(error, "producer_seq_gap");
    return isGap && error.problem.known_producer === false && this.#seq > 0;
  }
}

/**
 * A sealed log takes nothing any more, so what it says of earlier attempts is final; so is a place taken
 * (LP5).
 */
function isRuledOut(error: RequestError): boolean {
  if (hasProblemCode(error, "seq_num_mismatch")) {
    const { expected_seq_num: expected, actual_seq_num: actual } = error.problem;
    return Number(expected) < Number(actual);
  }
  return hasProblemCode(error, "log_sealed") && error.problem.earlier_attempts === "not_recorded";
}
