/**
 * The ledgers that this process has read lately: a reader each, and what it knows of where records lie.
 */
import { BoundedMap } from "../../bounded-map.ts";
import type { EntryId, LedgerId, SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { LedgerReader } from "../../ledger/ledger-reader.ts";
import { limits } from "../../limits.ts";

export interface KnownLedger {
  readonly reader: LedgerReader;
  readonly samples: EntrySamples;
  /** A consistent "last" query named it. If it is open at any later time, it is still the last (33e). */
  seenLast: boolean;
}

export class KnownLedgers {
  /** Least recently used first. */
  readonly #ledgers = new BoundedMap<LedgerId, KnownLedger>(limits.knownLedgersMax);

  constructor(private readonly ports: LedgerPorts) {}

  of(id: LedgerId): KnownLedger {
    const known = this.#ledgers.get(id) ?? {
      reader: new LedgerReader(this.ports, id),
      samples: new EntrySamples(),
      seenLast: false,
    };
    this.#ledgers.set(id, known);
    return known;
  }
}

export interface EntrySample {
  readonly entry: EntryId;
  /** The seq_num of its first record, and the one after its last. */
  readonly first: SeqNum;
  readonly next: SeqNum;
}

/**
 * Where some entries of one ledger lie in the log: entries that this process returned or looked at, thinned
 * out when they become too many. What an entry holds never changes, so a sample is never wrong, and none is
 * ever needed.
 */
export class EntrySamples {
  /** In the order of entries, and therefore of seq_nums. */
  #samples: EntrySample[] = [];

  note(sample: EntrySample): void {
    const index = this.#count((one) => one.entry < sample.entry);
    if (this.#samples[index]?.entry === sample.entry) return;
    this.#samples.splice(index, 0, sample);
    if (this.#samples.length <= limits.entrySamplesMax) return;
    this.#samples = this.#samples.filter((_, place) => place % 2 === 0 || place === this.#samples.length - 1);
  }

  /**
   * The sample that holds `position`, or else its nearest neighbours: the last that ends by it, the first
   * that starts behind it.
   */
  around(position: SeqNum): { before?: EntrySample; holding?: EntrySample; behind?: EntrySample } {
    const index = this.#count((one) => one.next <= position);
    const before = this.#samples[index - 1];
    const at = this.#samples[index];
    return {
      ...(before === undefined ? {} : { before }),
      ...(at === undefined ? {} : at.first <= position ? { holding: at } : { behind: at }),
    };
  }

  /** How many samples, from the first on, satisfy a condition that holds for a beginning of them only. */
  #count(holds: (sample: EntrySample) => boolean): number {
    let low = 0;
    let high = this.#samples.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const sample = this.#samples[middle];
      if (sample !== undefined && holds(sample)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
