/**
 * Appends batches to fixed places, one after another, so that each is in the log once, whatever is lost on
 * the way.
 *
 * O1 Each batch is sent with match_seq_num. So of all its copies, late ones too, at most one takes effect.
 * O2 A batch in doubt is sent again at the same place until it is acknowledged or the place is taken. All its
 *    attempts carry one token, so the log tells whether one of them took it, or another's equal records did;
 *    or the records there are others. Then it can never take effect.
 * O3 A batch is never moved to another place.
 *
 * Modes. `exclusive`: every batch right behind the last one, or an error. `resume`: like exclusive, but
 * records that are in their place already are compared and skipped. Where others may append in between, a
 * LogProducer does it.
 */
import type { AppendAckJson, RecordInputJson } from "../api/append-wire.ts";
import type { LogRecordJson } from "../api/wire.ts";
import { BatchInDoubtError, type BatchOutcome } from "./batch-outcome.ts";
import { hasProblemCode, type ProblemError, RequestError } from "./client-errors.ts";
import type { LogClient } from "./log-client.ts";
import { readRange } from "./read-range.ts";
import { base64, wireTexts } from "./record-texts.ts";
import { type Patience, Retries, retrying } from "./retry.ts";

export type AppendMode = "exclusive" | "resume";

export interface OrderedAppendFields extends Patience {
  readonly client: LogClient;
  readonly log: string;
  readonly mode: AppendMode;
  /** The seq_num that the next record gets. */
  readonly at: number;
}

/** The log is not free or not the same in the batch's place, or ends before it. */
export class PlaceTakenError extends Error {
  override readonly name = "PlaceTakenError";
}

export class OrderedAppend {
  #next: number;
  /** The end of what is in the log already, as far as `resume` knows. */
  #knownTail: number;

  constructor(private readonly fields: OrderedAppendFields) {
    this.#next = fields.at;
    this.#knownTail = fields.at;
  }

  /** The seq_num that the next record gets, if nobody else appends. */
  get next(): number {
    return this.#next;
  }

  /** Says where the log ends, so that `resume` compares before it sends. */
  presentUpTo(tail: number): void {
    this.#knownTail = Math.max(this.#knownTail, tail);
  }

  /** Throws PlaceTakenError, BatchInDoubtError, or the RequestError of a batch that is not in the log. */
  async append(records: readonly Uint8Array[]): Promise<BatchOutcome> {
    const start = this.#next;
    let rest = await this.#withoutPresent(records);
    const retries = new Retries(this.fields);
    let inDoubt = false;
    let token = crypto.randomUUID();
    while (rest.length > 0) {
      try {
        const ack = await this.#send(rest, token, retries.requestMs);
        this.#next = ack.end;
        return { kind: "appended", ack };
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        if (hasProblemCode(error, "seq_num_mismatch")) {
          const left = await this.#afterMismatch(rest, inDoubt, error).catch((failure: unknown) => {
            // What a copy did is still not known if the log could not be read.
            if (!inDoubt || !(failure instanceof RequestError)) throw failure;
            throw new BatchInDoubtError(this.#next, rest.length, failure);
          });
          if (left === "unsaid") {
            if (await retries.next(error)) continue;
            throw new BatchInDoubtError(this.#next, rest.length, error);
          }
          rest = left;
          token = crypto.randomUUID();
          inDoubt = false; // O2: its place is taken, so no copy of it can take effect any more.
          continue;
        }
        const mayBeThere = error.sideEffects === "possible";
        inDoubt ||= mayBeThere;
        const isRepeatable = (["unknown_outcome", "insufficient_regions"] as const).some((code) =>
          hasProblemCode(error, code),
        );
        const mayRetry = error.retryable || isRepeatable; // O1 makes it safe
        if (mayRetry && (await retries.next(error))) continue;
        throw inDoubt ? new BatchInDoubtError(this.#next, rest.length, error) : error;
      }
    }
    return { kind: "present", start, end: this.#next };
  }

  #send(records: readonly Uint8Array[], token: string, timeoutMs: number): Promise<AppendAckJson> {
    const { format, texts } = wireTexts(records);
    const json: RecordInputJson[] = texts.map((body) => ({ body }));
    const { client, log } = this.fields;
    const batch = { records: json, match_seq_num: this.#next, append_token: token };
    return client.within(timeoutMs).append(log, batch, format);
  }

  /**
   * What is still to be sent after the log said that the place is not free. "unsaid": equal records are
   * there, and the log could not look whose they are.
   */
  async #afterMismatch(
    rest: readonly Uint8Array[],
    inDoubt: boolean,
    error: ProblemError,
  ): Promise<readonly Uint8Array[] | "unsaid"> {
    const { mode, log } = this.fields;
    if (error.problem.already_appended === true) {
      this.#next += rest.length;
      return [];
    }
    const tail = await this.#tailAfter(error);
    if (tail < this.#next) {
      throw new PlaceTakenError(`log ${log} ends at ${tail}, before seq_num ${this.#next}`, { cause: error });
    }
    this.presentUpTo(tail);
    if (mode === "resume") return await this.#withoutPresent(rest);
    const isEqual = error.problem.equal_records === true;
    if (inDoubt && !isEqual && (await this.#isThere(rest, tail))) return "unsaid";
    throw new PlaceTakenError(
      inDoubt
        ? `log ${log} has ${isEqual ? "another's equal" : "other"} records from seq_num ${this.#next} on; ` +
            `it ends at ${tail}`
        : `the input from seq_num ${this.#next} on was not compared: log ${log} already ends at ${tail}; ` +
            "to compare and go on, add --resume",
      { cause: error },
    );
  }

  /** `resume`: compares what the log has in the place of these records, and leaves the rest of them. */
  async #withoutPresent(records: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    const count = Math.min(records.length, this.#knownTail - this.#next);
    if (this.fields.mode !== "resume" || count <= 0) return records;
    const { log, at } = this.fields;
    const found = await this.#read(this.#next, count);
    found.forEach((record, index) => {
      if (isBody(record, records[index])) return;
      throw new PlaceTakenError(
        `log ${log} holds something else at seq_num ${record.seq_num}, where record no. ` +
          `${record.seq_num - at + 1} of the input belongs (no. 1 at seq_num ${at})`,
      );
    });
    this.#next += count;
    return records.slice(count);
  }

  /** Whether a batch in doubt is what stands in its place: all of it, since batches are atomic. */
  async #isThere(records: readonly Uint8Array[], tail: number): Promise<boolean> {
    if (tail < this.#next + records.length) return false;
    const found = await this.#read(this.#next, records.length);
    return found.every((record, index) => isBody(record, records[index]));
  }

  /** Where the log ends: as the mismatch itself says, or by a read. */
  async #tailAfter({ problem }: ProblemError): Promise<number> {
    if (typeof problem.actual_seq_num === "number") return problem.actual_seq_num;
    const { client, log } = this.fields;
    return (await retrying(this.fields, client, (bounded) => bounded.tail(log))).tail;
  }

  async #read(from: number, count: number): Promise<LogRecordJson[]> {
    const range = { log: this.fields.log, from, end: from + count };
    const found: LogRecordJson[] = [];
    for await (const page of readRange(this.fields.client, range, this.fields)) found.push(...page);
    return found;
  }
}

function isBody(record: LogRecordJson, body: Uint8Array | undefined): boolean {
  return body !== undefined && record.body === base64(body);
}
