/**
 * Placement without a policy: any bookies in any order. The ledger core must be safe on ensembles that the
 * shipped policy would refuse.
 */

import type {
  EnsembleRequest,
  Placement,
  PlacementAnswer,
  ReplacementRequest,
} from "../../lib/protocol/placement/placement.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Draws before it gives up; where few bookies fit, most draws do not. */
const DRAWS = 40;

export function anywhere(random: SeededRandom): Placement {
  /** Bookies that may be chosen, in any order, those in quarantine last if they are not `needed`. */
  const candidates = (
    request: ReplacementRequest | EnsembleRequest,
    beside: readonly BookieAddress[],
    needed: boolean,
  ) => {
    const barred = new Set([...request.excluded, ...(("retired" in request && request.retired) || [])]);
    const fit = random
      .shuffled(request.candidates)
      .filter(({ id }) => !barred.has(id) && !beside.some((member) => member.id === id));
    const isLast = ({ id }: BookieAddress) => !needed && request.quarantined?.has(id) === true;
    return [...fit.filter((one) => !isLast(one)), ...fit.filter(isLast)];
  };
  /** Quarantine is no reason to refuse what can be had with it. */
  const drawn = (
    request: EnsembleRequest,
    draw: (needed: boolean) => readonly BookieAddress[],
  ): PlacementAnswer => {
    let answer = checked(draw(false), request);
    for (let again = 1; again < DRAWS && answer.kind === "refused"; again++)
      answer = checked(draw(2 * again >= DRAWS), request);
    return answer;
  };
  return {
    chooseEnsemble: (request) =>
      drawn(request, (needed) => candidates(request, [], needed).slice(0, request.replication.ensembleSize)),
    replaceBookies: (request) =>
      drawn(request, (needed) => {
        const spare = candidates(request, request.fragment.ensemble, needed);
        return request.fragment.ensemble.flatMap((member, position) =>
          request.positions.includes(position) ? spare.splice(0, 1) : [member],
        );
      }),
  };
}

/** Only what is needed for anything to be acknowledged at all: each write set spans the regions it must. */
function checked(ensemble: readonly BookieAddress[], request: EnsembleRequest): PlacementAnswer {
  const { ensembleSize, writeQuorum, minRegions } = request.replication;
  if (ensemble.length < ensembleSize) return { kind: "refused", reason: "too few bookies" };
  for (let start = 0; start < ensembleSize; start++) {
    const regions = new Set<string>();
    for (let offset = 0; offset < writeQuorum; offset++) {
      regions.add(ensemble[(start + offset) % ensembleSize]?.place.region ?? "");
    }
    if (regions.size < minRegions) return { kind: "refused", reason: "a write set spans too few regions" };
  }
  return { kind: "ensemble", ensemble };
}
