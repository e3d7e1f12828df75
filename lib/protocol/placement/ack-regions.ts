/**
 * The ack-time check, seen from its rarest side. An ensemble that the
 * checker accepted has no ack quorum in too few regions, so enough acks are always enough regions; an entry
 * that waits for regions alone tells that some ensemble is not what it should be.
 */
import type { BookieAddress } from "../place.ts";
import type { Replication } from "../replication.ts";
import { isAckSet } from "../write-set.ts";

/** Whether the holders, members of the present ensemble, are an ack quorum but no ACK set (rule 5). */
export function waitsForRegions(holders: readonly BookieAddress[], replication: Replication): boolean {
  const distinct = new Set(holders.map(({ id }) => id)).size;
  return distinct >= replication.ackQuorum && !isAckSet(holders, replication);
}
