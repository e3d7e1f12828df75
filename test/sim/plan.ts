/**
 * A plan says all about a run before it begins: the world, who does what in it, and what goes wrong. It is
 * drawn from a seed by a profile, it is plain data, and parts of it can be left out.
 */
import type { Replication } from "../../lib/protocol/replication.ts";
import type { Fault } from "./faults.ts";
import type { Delay } from "./message-path.ts";

export interface BookiePlan {
  readonly name: string;
  readonly region: string;
  readonly rack: string;
  /** Processes that serve its requests at once. */
  readonly instances: number;
  /** It is in no registry until a change of the topology adds it. */
  readonly joins?: true;
}

export interface WorldPlan {
  readonly regions: readonly string[];
  readonly bookies: readonly BookiePlan[];
  readonly replication: Replication;
  /** The shipped policy, or any ensemble at all, also one in which an ack quorum lies in one region. */
  readonly placement: "region-aware" | "anywhere";
  readonly withinRegion: Delay;
  readonly betweenRegions: Delay;
  readonly toStore: Delay;
}

interface ActorPlanBase {
  /** Name of the actor; its process has it too, and faults aim at it. */
  readonly name: string;
  readonly region: string;
  /** How many things it does, at most. */
  readonly operations: number;
  /** Usual pause between two of them. */
  readonly pauseMs: number;
  readonly startMs: number;
}

export interface LedgerWriterPlan extends ActorPlanBase {
  readonly kind: "ledger-writer";
  /** Adds under way at once. */
  readonly window: number;
  /** Adds to one ledger before it goes on to the next. */
  readonly ledgerEntries: number;
  /** Whether it closes a ledger that it leaves. */
  readonly closes: number;
}

export interface LedgerReaderPlan extends ActorPlanBase {
  readonly kind: "ledger-reader";
  readonly strong: boolean;
  /** Probability of keeping a reader, and with it its metadata, for the next operation. */
  readonly keeps: number;
  /** Reads under way at once, in one process that keeps one reader for each ledger. Absent: one. */
  readonly together?: number;
}

export interface LedgerRecovererPlan extends ActorPlanBase {
  readonly kind: "ledger-recoverer";
}

export interface LedgerCollectorPlan extends ActorPlanBase {
  readonly kind: "ledger-collector";
}

export interface LogAppenderPlan extends ActorPlanBase {
  readonly kind: "log-appender";
  readonly log: string;
  readonly window: number;
  /** Probability that an append is conditional on the tail it expects. */
  readonly matches: number;
  readonly segmentBytes: number;
}

export interface LogReaderPlan extends ActorPlanBase {
  readonly kind: "log-reader";
  readonly log: string;
  /** Probability that a read is strong. */
  readonly strong: number;
}

export interface LogCallerPlan extends ActorPlanBase {
  readonly kind: "log-caller";
  readonly log: string;
  readonly window: number;
  /** Probability that an append is conditional on the tail it expects. */
  readonly matches: number;
  readonly segmentBytes: number;
  /** Probability that it calls the function of any region instead of its own. */
  readonly roams: number;
  /** Whether it sends again what is in doubt, in any region, as a producer or under a key. */
  readonly idempotent?: "producer" | "key";
  /** How long it waits for an answer. */
  readonly patienceMs: number;
}

export interface LogKeeperPlan extends ActorPlanBase {
  readonly kind: "log-keeper";
  readonly log: string;
}

export interface LogEnderPlan extends ActorPlanBase {
  readonly kind: "log-ender";
  readonly log: string;
  readonly segmentBytes: number;
  /** Probability that it seals a life. */
  readonly seals: number;
  /** Whether it deletes lives, and begins new ones. */
  readonly deletes: boolean;
}

/** An operator who moves the log between regions. */
export interface LogMoverPlan extends ActorPlanBase {
  readonly kind: "log-mover";
  readonly log: string;
  /** Probability that it says which region the log prefers, and lets the log come there by itself. */
  readonly prefers: number;
}

/** A region's auditor on its schedule; its operations are passes. */
export interface RegionAuditorPlan extends ActorPlanBase {
  readonly kind: "region-auditor";
}

/** The `append` function of one region. */
export interface FunctionsPlan {
  /** Its instances are called `name/0`, `name/1` and so on. */
  readonly name: string;
  readonly region: string;
  /** Instances that are alive at once, at most. */
  readonly instancesMax: number;
  /** Requests that one instance works on at once. */
  readonly concurrency: number;
  /** Probability that an instance releases its leases when it has nothing to do. */
  readonly releases: number;
  /** Probability that an instance is frozen when it has nothing to do. */
  readonly parks: number;
  /** Probability that a request starts a new instance although another is free. */
  readonly coldStarts: number;
  /**
   * Probability that a resident is started to serve a log's inbox, each half of a second in which the region
   * has none. Absent: its instances have no inbox.
   */
  readonly residents?: number;
}

export interface LogRecovererPlan extends ActorPlanBase {
  readonly kind: "log-recoverer";
  readonly log: string;
}

export type ActorPlan =
  | LedgerWriterPlan
  | LedgerReaderPlan
  | LedgerRecovererPlan
  | LedgerCollectorPlan
  | LogAppenderPlan
  | LogReaderPlan
  | LogCallerPlan
  | LogKeeperPlan
  | LogEnderPlan
  | LogMoverPlan
  | RegionAuditorPlan
  | LogRecovererPlan;

export interface Plan {
  readonly seed: number;
  readonly profile: string;
  readonly world: WorldPlan;
  readonly actors: readonly ActorPlan[];
  /** Absent: nobody calls functions. */
  readonly functions?: readonly FunctionsPlan[];
  readonly faults: readonly Fault[];
  /** Actors stop here; what they began goes on. */
  readonly workMs: number;
  /** From here on nothing goes wrong any more, except that the frozen may thaw. */
  readonly calmMs: number;
  /** Virtual time within which whatever is then asked for must work. */
  readonly recoverWithinMs: number;
}
