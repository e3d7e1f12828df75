/**
 * What a lost region does to writes before the ensemble changes. They go on in the same ensemble while every
 * write set keeps an ack quorum: Qa <= Qw less what the lost regions held of it. A longer loss than that is
 * survived all the same, by an ensemble change, after a short stall.
 */
import type { Replication } from "../replication.ts";
import { heaviestLoad, type Ring } from "./ring-windows.ts";

export interface AvailabilityBand {
  /** The smallest ack quorum that is legal while all regions are there. */
  readonly steadyAckQuorumMin: number;
  /** The smallest that is legal at all, since it must hold with minRegions regions left. */
  readonly degradedAckQuorumMin: number;
  /** The largest with which writes go on in place when any one region is lost. */
  readonly oneLossAckQuorumMax: number;
  /** The same when all but minRegions regions are lost at once. */
  readonly allLossesAckQuorumMax: number;
  /** Regions that this ack quorum can lose at once without a stall, minRegions being kept. */
  readonly lossesInPlace: number;
}

/** `ring` is an ensemble as it is placed with all bookies at hand, over `regions` regions. */
export function availabilityBand(
  ring: Ring,
  regions: number,
  replication: Replication,
  degradedAckQuorumMin: number,
): AvailabilityBand {
  const { writeQuorum, ackQuorum, minRegions } = replication;
  const held = (lost: number) => (lost === 0 ? 0 : heaviestLoad(ring, replication, regions, lost));
  const lossesMax = regions - minRegions;
  let lossesInPlace = 0;
  while (lossesInPlace < lossesMax && ackQuorum <= writeQuorum - held(lossesInPlace + 1)) lossesInPlace++;
  return {
    steadyAckQuorumMin: held(minRegions - 1) + 1,
    degradedAckQuorumMin,
    oneLossAckQuorumMax: writeQuorum - held(1),
    allLossesAckQuorumMax: writeQuorum - held(lossesMax),
    lossesInPlace,
  };
}
