/**
 * Appends batches to fixed places, one after another, so that each is in the log once, whatever is lost on
 * the way.
 *
 * OA1 Each batch is sent with match_seq_num, by a producer of this run alone (LogProducer). So of all its
 *     copies, late ones too, at most one takes effect, and the log says whether one did: a repetition of what
 *     is recorded is acknowledged, and a place that is taken has other records than this run's.
 * OA2 A batch in doubt is sent again at the same place until it is acknowledged or its place is taken. Then
 *     it can never take effect.
 * OA3 A batch is never moved to another place.
 *
 * Modes. `exclusive`: every batch right behind the last one, or an error. `resume`: like exclusive, but
 * records that are in their place already are compared and skipped. Where others may append in between, a
 * LogProducer does it.
 */
import type { LogRecordJson } from "../api/wire.ts";
import type { BatchOutcome } from "./batch-outcome.ts";
import { hasProblemCode, type ProblemError } from "./client-errors.ts";
import type { LogClient } from "./log-client.ts";
import { LogProducer } from "./log-producer.ts";
import { readRange } from "./read-range.ts";
import { base64 } from "./record-texts.ts";
import { type Patience, retrying } from "./retry.ts";

export type AppendMode = "exclusive" | "resume";

interface OrderedAppendFields extends Patience {
  readonly client: LogClient;
  readonly log: string;
  readonly mode: AppendMode;
  /** The seq_num that the next record gets. */
  readonly at: number;
  /** The producer that sends; a random one if absent. */
  readonly id?: string;
  /** Higher than any that this id had before; 0 if absent. */
  readonly epoch?: number;
}

/** The log is not free or not the same in the batch's place, or ends before it. */
export class PlaceTakenError extends Error {
  override readonly name = "PlaceTakenError";
}

export class OrderedAppend {
  #next: number;
  /** The end of what is in the log already, as far as `resume` knows. */
  #knownTail: number;
  readonly #producer: LogProducer;

  constructor(private readonly fields: OrderedAppendFields) {
    this.#producer = new LogProducer({ ...fields, id: fields.id ?? crypto.randomUUID() });
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
    while (rest.length > 0) {
      try {
        const outcome = await this.#producer.append(rest, this.#next);
        this.#next += rest.length;
        return outcome;
      } catch (error) {
        if (!hasProblemCode(error, "seq_num_mismatch")) throw error;
        rest = await this.#afterMismatch(rest, error);
      }
    }
    return { kind: "present", start, end: this.#next };
  }

  /**
   * What is still to be sent after the log said that the place is not free, and that the batch is not there.
   */
  async #afterMismatch(rest: readonly Uint8Array[], error: ProblemError): Promise<readonly Uint8Array[]> {
    const { mode, log } = this.fields;
    const tail = await this.#tailAfter(error);
    if (tail < this.#next) {
      throw new PlaceTakenError(`log ${log} ends at ${tail}, before seq_num ${this.#next}`, { cause: error });
    }
    this.presentUpTo(tail);
    if (mode === "resume") return await this.#withoutPresent(rest);
    throw new PlaceTakenError(
      `the input from seq_num ${this.#next} on was not compared: log ${log} already ends at ${tail}; ` +
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
