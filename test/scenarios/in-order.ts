import type { EnsembleRequest, Placement } from "../../lib/protocol/placement/placement.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";

/** Placement for stories: the first bookies in the order of the topology, spares in the same order. */
export const inOrder: Placement = {
  chooseEnsemble: (request) => {
    const { ensembleSize } = request.replication;
    const ensemble = usable(request).slice(0, ensembleSize);
    if (ensemble.length === ensembleSize) return { kind: "ensemble", ensemble };
    return { kind: "refused", reason: "too few bookies" };
  },
  replaceBookies: (request) => {
    const { fragment, positions, retired } = request;
    const members = fragment.ensemble.map((member) => member.id);
    const spares = usable(request).filter(
      (one) => !members.includes(one.id) && retired?.has(one.id) !== true,
    );
    if (spares.length < positions.length) return { kind: "refused", reason: "no spare bookie" };
    const ensemble = fragment.ensemble.map(
      (member, position) => spares[positions.indexOf(position)] ?? member,
    );
    return { kind: "ensemble", ensemble };
  },
};

/** Those in quarantine come last. */
function usable({ candidates, excluded, quarantined }: EnsembleRequest): BookieAddress[] {
  const allowed = candidates.filter((one) => !excluded.has(one.id));
  const isLast = (one: BookieAddress) => Number(quarantined?.has(one.id) === true);
  return allowed.sort((one, other) => isLast(one) - isLast(other));
}
