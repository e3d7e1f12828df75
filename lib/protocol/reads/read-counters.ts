/** What reading cost: per read for traces and `Server-Timing`, and summed up per process for metrics. */
import type { DistanceClass } from "../replication.ts";

/** Why a request is sent. */
export type Lane = "first" | "hedge" | "failover";

/** One read's requests. `attempts` counts every request of the read; probes are not the read's own. */
export type ReadFacts = Readonly<Omit<FactsSoFar, "sent">>;

/** The facts of a read that is going on. */
export class FactsSoFar {
  attempts = 0;
  hedges = 0;
  /** Hedges that left the region, part of `hedges`. */
  crossRegionHedges = 0;
  /** Requests sent on for an error, a missing or damaged copy, or silence. */
  failovers = 0;
  /** How far away the answer came from; absent if there was none. */
  winner?: DistanceClass;

  /** A request was sent; `isFar` if it left the region. */
  sent(lane: Lane, isFar: boolean): void {
    this.attempts += 1;
    if (lane === "failover") this.failovers += 1;
    if (lane !== "hedge") return;
    this.hedges += 1;
    if (isFar) this.crossRegionHedges += 1;
  }
}

export class ReadCounters {
  reads = 0;
  answered = 0;
  attempts = 0;
  hedges = 0;
  crossRegionHedges = 0;
  /** Hedges that were due and not sent: the bucket was empty. */
  hedgesDenied = 0;
  failovers = 0;
  /** Silent attempts that were not sent on in time: the retry bucket was empty. */
  failoversDenied = 0;
  probes = 0;
  readonly wins = new Map<DistanceClass, number>();

  /** A read is over. */
  add(facts: ReadFacts): void {
    this.reads += 1;
    this.attempts += facts.attempts;
    this.hedges += facts.hedges;
    this.crossRegionHedges += facts.crossRegionHedges;
    this.failovers += facts.failovers;
    if (facts.winner === undefined) return;
    this.answered += 1;
    this.wins.set(facts.winner, (this.wins.get(facts.winner) ?? 0) + 1);
  }
}

/**
 * What bookies were asked for one answer: tails, entries read ahead, and what it took to find a place that
 * is no seq_num included.
 */
export interface ReadCost {
  /** From the first question to the last answer, in ms. */
  readonly elapsedMs: number;
  readonly counters: ReadCounters;
}
