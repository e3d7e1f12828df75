/** Names and values of one run of a contract case: no two runs share a key, so they can share a store. */
import {
  type EntryId,
  entryId,
  type LedgerId,
  type LogIncarnation,
  ledgerId,
  logIncarnation,
  newTenure,
  newWriteToken,
  type Tenure,
  type WriteToken,
} from "../../lib/protocol/ids.ts";
import type { SealedEntry } from "../../lib/protocol/ports.ts";
import type { Random } from "../../lib/protocol/random.ts";
import { SeededRandom } from "../sim/seeded-random.ts";

let runs = 0;

export class Scope {
  readonly #run = ++runs;
  #names = 0;
  /** For tokens; what a case draws from it decides nothing else. */
  readonly random: Random = new SeededRandom(this.#run, "contract");

  /** `many`: keys that a case stores to see pages of them. `isFaulty`: replies may be lost in this run. */
  constructor(
    readonly many = 10_000,
    readonly isFaulty = false,
  ) {}

  ledger(): LedgerId {
    return ledgerId(this.#run * 1_000 + this.#names++);
  }

  partition(): string {
    return `contract#${this.#run}.${this.#names++}`;
  }

  log(): LogIncarnation {
    return logIncarnation(`log${this.#run}.${this.#names++}`);
  }

  tenure(): Tenure {
    return newTenure(this.random);
  }

  token(): WriteToken {
    return newWriteToken(this.random);
  }

  /** An entry as a writer would send it; the digest is filler, since no store looks at it. */
  entry(
    ledger: LedgerId,
    entry: number | EntryId,
    fields: { tenure?: Tenure; payload?: Uint8Array; lastAddConfirmed?: number } = {},
  ): SealedEntry {
    const payload = fields.payload ?? Uint8Array.of(entry & 0xff, 1, 2, 3);
    return {
      header: {
        ledgerId: ledger,
        entryId: entryId(entry),
        lastAddConfirmed: entryId(fields.lastAddConfirmed ?? Math.max(-1, entry - 1)),
        length: payload.length,
        tenure: fields.tenure ?? this.tenure(),
      },
      payload,
      digest: Uint8Array.of(9, 8, 7, 6),
    };
  }
}
