/**
 * Which bookies an entry belongs to and what they make together: said once more for the checkers, which would
 * not notice a fault in the protocol's own arithmetic if they went by it.
 */
import type { BookieId } from "../../lib/protocol/ids.ts";
import type { LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import type { SealedEntry } from "../../lib/protocol/ports.ts";
import type { BookieAddress, Fragment, Replication } from "../../lib/protocol/replication.ts";

/** The fragment of an entry: the last one that starts at it or before it. */
export function fragmentOf({ fragments }: Pick<LedgerMetadata, "fragments">, entry: number): Fragment {
  const found = fragments.findLast(({ firstEntry }) => firstEntry <= entry);
  if (found === undefined) throw new Error(`no fragment holds entry ${entry}`);
  return found;
}

/** Qw bookies, from the entry's own place in the ring on. */
export function bookiesOf(
  ledger: Pick<LedgerMetadata, "fragments" | "replication">,
  entry: number,
): readonly BookieAddress[] {
  const { ensemble } = fragmentOf(ledger, entry);
  const ring = [...ensemble, ...ensemble];
  const first = entry % ensemble.length;
  return ring.slice(first, first + ledger.replication.writeQuorum);
}

/** Qa bookies in minRegions regions, or more. */
export function areAckSet(holders: readonly BookieAddress[], replication: Replication): boolean {
  const ids = new Set<BookieId>();
  const regions = new Set<string>();
  for (const { id, place } of holders) {
    ids.add(id);
    regions.add(place.region);
  }
  return ids.size >= replication.ackQuorum && regions.size >= replication.minRegions;
}

/**
 * Distinguishes copies, whatever is in them: two are the same exactly if all their bytes are. (The number in a
 * payload
 * distinguishes only payloads of raw ledgers; an entry of a log is a set of records.)
 */
export const copyOf = ({ digest }: SealedEntry): string => digest.join(" ");

/** Whether those of Qw bookies that are not among `shut` are fewer than Qa. */
export function leaveNoAckQuorum(shut: readonly BookieAddress[], { writeQuorum, ackQuorum }: Replication) {
  return writeQuorum - new Set(shut.map(({ id }) => id)).size < ackQuorum;
}
