/**
 * What a log remembers of its producers: for each its epoch, the seq it is expected to go on with, and where
 * its last batches lie. A pure function of the log's entries in their order, so that every writer that reads
 * the same entries knows the same (producer-snapshot.ts reads them).
 *
 * PT1 A batch is new only if its seq follows the producer's last one, or if it begins at 0: a producer that
 *     is not remembered, or a higher epoch of one that is. An epoch never goes back.
 * PT2 The last `producerBatchesMax` batches of a producer are remembered with their positions. A repetition
 *     of one of them is a duplicate; of an older one no more is known than that it is in the log.
 * PT3 A producer that was used within `producerWindowMs` is not forgotten; without room a new one is refused.
 *     Others make room for it, those least recently used first, and after `producerKeepMs` they are forgotten
 *     in any case. Time is that of the processes which took the appends; it never goes back here.
 */
import { present } from "../../assert.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { RecordPosition } from "../records/record.ts";
import type { BatchSender } from "../records/record-set.ts";

/** A batch that is in the log, or will be if everything before it is recorded. */
export interface KnownBatch {
  readonly seq: number;
  readonly count: number;
  readonly content: number;
  readonly start: RecordPosition;
  readonly last: RecordPosition;
}

export interface KnownProducer {
  readonly id: string;
  readonly epoch: number;
  readonly usedAtMs: number;
  /** Never empty; the last one last. */
  readonly batches: readonly KnownBatch[];
}

export type ProducerVerdict =
  | { readonly kind: "new" }
  | { readonly kind: "duplicate"; readonly batch: KnownBatch }
  /** The same seq came with other records. */
  | { readonly kind: "conflict"; readonly batch: KnownBatch }
  /** It is in the log, further back than is remembered. */
  | { readonly kind: "passed"; readonly expected: number }
  | { readonly kind: "gap"; readonly expected: number; readonly isKnown: boolean }
  | { readonly kind: "fenced"; readonly epoch: number }
  /** No room for another producer. */
  | { readonly kind: "full" };

export class ProducerTable {
  /** Least recently used first. */
  readonly #producers = new Map<string, KnownProducer>();
  #nowMs: number;

  constructor(nowMs = 0, producers: readonly KnownProducer[] = []) {
    this.#nowMs = nowMs;
    for (const producer of producers) this.#producers.set(producer.id, producer);
  }

  copy(): ProducerTable {
    return new ProducerTable(this.#nowMs, this.producers());
  }

  get isEmpty(): boolean {
    return this.#producers.size === 0;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Least recently used first. */
  producers(): readonly KnownProducer[] {
    return [...this.#producers.values()];
  }

  /** Whether the batch is certainly not in the log: its sender is remembered, and has not come so far. */
  rulesOut({ id, epoch, seq }: BatchSender): boolean {
    const known = this.#producers.get(id);
    if (known === undefined || epoch < known.epoch) return false;
    return epoch > known.epoch || seq >= expectedSeq(known);
  }

  /** What a batch of `count` records would be here; changes nothing. */
  judge(batch: BatchSender, count: number): ProducerVerdict {
    const known = this.#producers.get(batch.id);
    if (known === undefined) return this.#judgeUnknown(batch);
    if (batch.epoch < known.epoch) return { kind: "fenced", epoch: known.epoch };
    if (batch.epoch > known.epoch) return fromZero(batch, true);
    const same = known.batches.find(({ seq }) => seq === batch.seq);
    if (same !== undefined) {
      const isSame = same.count === count && same.content === batch.content;
      return { kind: isSame ? "duplicate" : "conflict", batch: same };
    }
    const expected = expectedSeq(known);
    if (batch.seq === expected) return { kind: "new" };
    const oldest = present(known.batches[0], "a known producer has a batch");
    if (batch.seq + count <= oldest.seq) return { kind: "passed", expected };
    return { kind: "gap", expected, isKnown: true };
  }

  /** Takes note of a new batch, in the order of the log. */
  note(batch: BatchSender, known: KnownBatch): void {
    const { id, epoch } = batch;
    const before = this.#producers.get(id);
    this.#nowMs = Math.max(this.#nowMs, batch.arrivedAtMs);
    this.#producers.delete(id);
    if (before === undefined) this.#makeRoom();
    this.#forget();
    const earlier = before?.epoch === epoch ? before.batches : [];
    const batches = [...earlier, known].slice(-appendLimits.producerBatchesMax); // PT2
    this.#producers.set(id, { id, epoch, usedAtMs: this.#nowMs, batches });
  }

  #judgeUnknown(batch: BatchSender): ProducerVerdict {
    if (batch.seq !== 0) return fromZero(batch, false);
    const oldest = this.#oldest();
    const nowMs = Math.max(this.#nowMs, batch.arrivedAtMs);
    const isFull = this.#producers.size >= appendLimits.producersMax;
    if (isFull && oldest !== undefined && !isForgettable(oldest, nowMs)) return { kind: "full" };
    return { kind: "new" };
  }

  /** PT3 */
  #makeRoom(): void {
    while (this.#producers.size >= appendLimits.producersMax) {
      const oldest = this.#oldest();
      if (oldest === undefined || !isForgettable(oldest, this.#nowMs)) return;
      this.#producers.delete(oldest.id);
    }
  }

  #forget(): void {
    for (let oldest = this.#oldest(); oldest !== undefined; oldest = this.#oldest()) {
      if (this.#nowMs - oldest.usedAtMs <= appendLimits.producerKeepMs) return;
      this.#producers.delete(oldest.id);
    }
  }

  #oldest(): KnownProducer | undefined {
    return this.#producers.values().next().value;
  }
}

/** PT1 */
function fromZero({ seq }: BatchSender, isKnown: boolean): ProducerVerdict {
  return seq === 0 ? { kind: "new" } : { kind: "gap", expected: 0, isKnown };
}

function expectedSeq({ batches }: KnownProducer): number {
  const last = present(batches.at(-1), "a known producer has a batch");
  return last.seq + last.count;
}

function isForgettable({ usedAtMs }: KnownProducer, nowMs: number): boolean {
  return nowMs - usedAtMs > appendLimits.producerWindowMs;
}
