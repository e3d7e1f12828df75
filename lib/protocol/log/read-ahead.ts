/**
 * Reads entries one after another, a few ahead of the one that is wanted, so that a sequential read is not
 * one round trip an entry. Ahead only where entries are confirmed: at the tail strong reads build on the
 * entry before.
 */
import { type EntryId, entryId } from "../ids.ts";
import type { LedgerRead, LedgerReader, ReadConsistency } from "../ledger/ledger-reader.ts";
import { limits } from "../limits.ts";

export class ReadAhead {
  readonly #reads = new Map<EntryId, Promise<LedgerRead>>();
  /** Grows with every entry taken: who wants one record does not pay for eight entries. */
  #window = 0;
  #hintedAt: number | undefined;

  constructor(
    private readonly reader: LedgerReader,
    private readonly consistency: ReadConsistency,
  ) {}

  /** The entry. Called for consecutive entries. */
  async take(entry: EntryId): Promise<LedgerRead> {
    if (this.#window > 0 && entry > this.reader.confirmed) await this.#askHowFar(entry);
    const read = this.#reads.get(entry) ?? this.reader.read(entry, this.consistency);
    this.#reads.delete(entry);
    const through = Math.min(entry + this.#window, this.reader.confirmed);
    for (let ahead = entry + 1; ahead <= through; ahead++) this.#start(entryId(ahead));
    this.#window = Math.min(limits.readAheadEntries, this.#window * 2 + 1);
    return await read;
  }

  /** A hint for speed, now and then: at the tail it tells nothing new. */
  async #askHowFar(entry: EntryId): Promise<void> {
    if (this.#hintedAt !== undefined && entry - this.#hintedAt < limits.readAheadEntries) return;
    this.#hintedAt = entry;
    await this.reader.confirmedHint();
  }

  #start(entry: EntryId): void {
    if (this.#reads.has(entry)) return;
    const read = this.reader.read(entry, this.consistency);
    // Whoever takes it meets the failure; if nobody does, nobody misses it.
    read.catch(() => undefined);
    this.#reads.set(entry, read);
  }
}
