/**
 * Reads entries one after another, some ahead of the one that is wanted, so that a sequential read is not one
 * round trip an entry. Ahead only where entries are confirmed: at the tail strong reads build on the entry
 * before. How far ahead is bounded three times: in entries; in bytes, taking each entry to be as large as the
 * largest so far; and by what the read can still use.
 */
import { type EntryId, entryId } from "../../ids.ts";
import type { LedgerRead, LedgerReader, ReadConsistency } from "../../ledger/ledger-reader.ts";
import { limits } from "../../limits.ts";
import type { ReadCounters } from "../../reads/read-counters.ts";

export class ReadAhead {
  readonly #reads = new Map<EntryId, Promise<LedgerRead>>();
  /** Grows with every entry taken: who wants one record does not pay for many entries. */
  #window = 0;
  #largestBytes = 1;
  #hintedAt: number | undefined;

  constructor(
    private readonly reader: LedgerReader,
    private readonly consistency: ReadConsistency,
    private readonly cost?: ReadCounters,
  ) {}

  /** The entry. Called for consecutive entries; `useful` is how many more the caller can probably use. */
  async take(entry: EntryId, useful: number): Promise<LedgerRead> {
    const window = this.#windowNow(useful);
    if (window > 0 && entry > this.reader.confirmed) await this.#askHowFar(entry);
    const reading = this.#reads.get(entry) ?? this.#read(entry);
    this.#reads.delete(entry);
    const through = Math.min(entry + window, this.reader.confirmed);
    for (let ahead = entry + 1; ahead <= through; ahead++) this.#start(entryId(ahead));
    this.#window = Math.min(limits.readAheadEntries, this.#window * 2 + 1);
    const read = await reading;
    if (read.kind === "entry") this.#largestBytes = Math.max(this.#largestBytes, read.entry.payload.length);
    return read;
  }

  /** One ahead at least, whatever its size: the caller looks at one and waits for the next. */
  #windowNow(useful: number): number {
    const inBytes = Math.max(1, Math.floor(limits.readAheadBytesMax / this.#largestBytes));
    return Math.min(this.#window, inBytes, useful);
  }

  /** A hint for speed, now and then: at the tail it tells nothing new. */
  async #askHowFar(entry: EntryId): Promise<void> {
    if (this.#hintedAt !== undefined && entry - this.#hintedAt < limits.readAheadEntries) return;
    this.#hintedAt = entry;
    await this.reader.confirmedHint(this.cost);
  }

  #start(entry: EntryId): void {
    if (this.#reads.has(entry)) return;
    const reading = this.#read(entry);
    // Whoever takes it meets the failure; if nobody does, nobody misses it.
    reading.catch(() => undefined);
    this.#reads.set(entry, reading);
  }

  #read(entry: EntryId): Promise<LedgerRead> {
    return this.reader.read(entry, this.consistency, this.cost);
  }
}
