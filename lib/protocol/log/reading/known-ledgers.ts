/** The ledgers that this process has read lately: a reader each, and what it knows of where records lie. */
import type { LedgerId } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { LedgerReader } from "../../ledger/ledger-reader.ts";
import { limits } from "../../limits.ts";
import { EntrySamples } from "./entry-samples.ts";

export interface KnownLedger {
  readonly reader: LedgerReader;
  readonly samples: EntrySamples;
  /** A consistent "last" query named it. If it is open at any later time, it is still the last (33e). */
  seenLast: boolean;
}

export class KnownLedgers {
  readonly #ledgers = new Map<LedgerId, KnownLedger>();

  constructor(private readonly ports: LedgerPorts) {}

  of(id: LedgerId): KnownLedger {
    const known = this.#ledgers.get(id) ?? {
      reader: new LedgerReader(this.ports, id),
      samples: new EntrySamples(),
      seenLast: false,
    };
    // Least recently used first.
    this.#ledgers.delete(id);
    this.#ledgers.set(id, known);
    const oldest = this.#ledgers.keys().next().value;
    if (this.#ledgers.size > limits.knownLedgersMax && oldest !== undefined) this.#ledgers.delete(oldest);
    return known;
  }
}
