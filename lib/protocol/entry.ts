/**
 * An entry: sealed once by the writer, and then the same bytes for ever (rules 4, 5). The digest covers the
 * header and the payload; the reader of a copy checks it, and a bad copy is no copy.
 */
import type { EntryId, LedgerId } from "./ids.ts";
import type { Digest, EntryHeader, SealedEntry } from "./ports.ts";
import type { LedgerDigest } from "./replication.ts";

export function sealEntry(
  digest: Digest,
  ledgerDigest: LedgerDigest,
  header: EntryHeader,
  payload: Uint8Array,
): SealedEntry {
  return { header, payload, digest: digest.compute(ledgerDigest, header, payload) };
}

/** Whether this is an undamaged copy of that entry of that ledger. Without `entry`: of any entry of it. */
export function isGenuine(
  digest: Digest,
  ledger: { readonly ledgerId: LedgerId; readonly digest: LedgerDigest },
  copy: SealedEntry,
  entry?: EntryId,
): boolean {
  if (copy.header.ledgerId !== ledger.ledgerId) return false;
  if (entry !== undefined && copy.header.entryId !== entry) return false;
  return sameBytes(copy.digest, digest.compute(ledger.digest, copy.header, copy.payload));
}

/** Same ledger, entry id, tenure and payload: what rule 2 calls the same content. */
export function sameContent(one: SealedEntry, other: SealedEntry): boolean {
  return (
    one.header.ledgerId === other.header.ledgerId &&
    one.header.entryId === other.header.entryId &&
    one.header.tenure === other.header.tenure &&
    sameBytes(one.payload, other.payload)
  );
}

/** The same to the bit, as every resend is (rule 5): what differs only here is a damaged copy. */
export function isIdentical(one: SealedEntry, other: SealedEntry): boolean {
  return (
    sameContent(one, other) &&
    one.header.lastAddConfirmed === other.header.lastAddConfirmed &&
    one.header.length === other.header.length &&
    sameBytes(one.digest, other.digest)
  );
}

export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
