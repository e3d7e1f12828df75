/**
 * What this process knows of bookies when it has to choose where new copies go: the one way in which ledger
 * code asks placement.
 */
import type { BookieId } from "../ids.ts";
import type { EnsembleRequest } from "../placement/placement.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

type Known = Pick<EnsembleRequest, "candidates" | "home" | "bookieStates" | "regionStates" | "quarantined">;

/** `avoid`: bookies that just failed the asker, chosen last like those in doubt. */
export function knownBookies(ports: LedgerPorts, avoid: ReadonlySet<BookieId> = new Set()): Known {
  const candidates = ports.topology.bookies();
  const ids = candidates.map((candidate) => candidate.id);
  const states = ports.topology.states?.();
  return {
    candidates,
    home: ports.region,
    quarantined: new Set([...ports.health.doubtful(ids), ...avoid]),
    ...(states === undefined ? {} : { bookieStates: states.bookies, regionStates: states.regions }),
  };
}
