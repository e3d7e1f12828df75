/** How a ledger's entries are spread over bookies and sealed: the words that its metadata is made of. */
import type { EntryId } from "./ids.ts";
import type { BookieAddress } from "./place.ts";

/** How a ledger's entries are sealed; part of its metadata. The HMAC key is the ledger's own, in base 16. */
export type LedgerDigest =
  | { readonly type: "crc32" }
  | { readonly type: "hmac-sha256"; readonly keyHex: string };

export interface Replication {
  /** Bookies that a fragment is striped over. */
  readonly ensembleSize: number;
  /** Bookies that each entry is sent to. */
  readonly writeQuorum: number;
  /** Bookies that must hold an entry before it is acknowledged. */
  readonly ackQuorum: number;
  /** Regions that those bookies must span: minRegionsForDurability. */
  readonly minRegions: number;
}

/** From `firstEntry` on, entries are striped over `ensemble`, whose order is part of the protocol. */
export interface Fragment {
  readonly firstEntry: EntryId;
  readonly ensemble: readonly BookieAddress[];
}
