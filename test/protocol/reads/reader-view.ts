/** What a reader believes of its bookies, written down by hand. */
import { region } from "../../../lib/protocol/ids.ts";
import type { ClassView, ReaderView, ReplicaView } from "../../../lib/protocol/reads/order-replicas.ts";
import type { BookieAddress, DistanceClass } from "../../../lib/protocol/replication.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";

export interface Belief {
  readonly isSuspect?: boolean;
  readonly isInDoubt?: boolean;
  readonly inFlight?: number;
  /** What the next request is expected to take, in ms; by default what its class takes. */
  readonly predictedMs?: number;
}

export interface Beliefs {
  /** `/region/rack` or `/region`; absent: the reader does not know where it is. */
  readonly place?: string;
  readonly classes?: Readonly<Partial<Record<DistanceClass, Partial<ClassView>>>>;
  /** By position in the write set. */
  readonly replicas?: Readonly<Record<number, Belief>>;
  readonly seed?: number;
}

export function readerView(writeSet: readonly BookieAddress[], beliefs: Beliefs): ReaderView {
  const [, regionName, rack] = beliefs.place?.split("/") ?? [];
  return {
    place: {
      ...(regionName === undefined ? {} : { region: region(regionName) }),
      ...(rack === undefined ? {} : { rack }),
    },
    random: new SeededRandom(beliefs.seed ?? 1, "order"),
    classView: (distance) => ({
      typicalMs: undefined,
      medianMs: undefined,
      silenceMs: 400,
      isStrained: false,
      ...beliefs.classes?.[distance],
    }),
    replicaView: (bookie): ReplicaView => {
      const belief = beliefs.replicas?.[writeSet.indexOf(bookie)] ?? {};
      return {
        isSuspect: belief.isSuspect ?? false,
        isInDoubt: belief.isInDoubt ?? false,
        averageMs: belief.predictedMs,
        inFlight: belief.inFlight ?? 0,
        predictedMs: (usualMs) => belief.predictedMs ?? usualMs,
      };
    },
  };
}
