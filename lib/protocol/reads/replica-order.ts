/**
 * The order in which a reader asks the bookies of a write set: its own region first (at random among
 * equals), then the others; suspects last.
 */
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import type { BookieAddress } from "../place.ts";
import { shuffled } from "../random.ts";

export function nearestFirst(
  ports: Pick<LedgerPorts, "random" | "region" | "suspects">,
  writeSet: readonly BookieAddress[],
): BookieAddress[] {
  const cost = (bookie: BookieAddress) =>
    (ports.suspects.has(bookie.id) ? 2 : 0) + (bookie.place.region === ports.region ? 0 : 1);
  return shuffled(ports.random, writeSet).sort((one, other) => cost(one) - cost(other));
}
