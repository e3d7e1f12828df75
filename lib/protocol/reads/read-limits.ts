/** The bounds of speculative reading, their units and their reasons. Their relations are asserted on load. */
import { assert } from "../assert.ts";
import { limits } from "../limits.ts";

export const readLimits = {
  // Budgets
  /** Hedges per read, on average: the share of extra load that a shorter tail may cost. */
  hedgeBudget: 0.05,
  /** Tokens for a hedge or probe that leaves the region, where bytes are dear and far. */
  crossRegionCost: 3,
  /** Tokens that a bucket may hold: its earnings of so long, within these bounds. */
  bucketWindowMs: 10_000,
  bucketTokensMin: 10,
  bucketTokensMax: 250,
  /** Requests sent on for silence: a share of all reads, and so many a second besides. */
  retryBudget: 0.1,
  retriesPerSecond: 10,

  // Hedging
  /**
   * The first hedge is due a little before the budget's own quantile, at quantile(1 - B * demand): the
   * bucket, which bounds the extra load whatever happens, then turns away the few too many. A delay that
   * spends the budget exactly loses a tenth of what can be won at p99 where the tail is as light as an object
   * store's.
   */
  hedgeDemand: 1.25,
  /** Hedges of one read, at most; B^4 is six in a million. Failover goes on without bound. */
  hedgesMax: 3,
  hedgeDelayMinMs: 1,
  hedgeGapMinMs: 1,
  /** Hedges of one batch to one replica that are due within so long go out together, at most so many. */
  gatherMs: 1,
  gatheredMax: 16,
  /** A hedge is never held back longer, whatever the sketch says (CASSANDRA-14293). */
  hedgeDelayMaxMs: 500,
  /** First hedge as long as nothing is known. */
  hedgeDelayDefaultMs: limits.readNextReplicaAfterMs,

  // Failover
  /** Silence of this many times the healthy pool's p99 sends the question on. */
  silenceFactor: 3.5,
  silenceMaxMs: 1_000,
  silenceDefaultMs: 500,
  /** Silence after which an attempt is given up. */
  attemptTimeoutMs: limits.bookieCallTimeoutMs,
  /** A timer that fires so late shows that the process stood still: nothing was slow but ourselves. */
  frozenAfterMs: 500,

  // Sketches
  /** Anything faster counts as so fast. */
  latencyFloorMs: 0.05,
  /** A half of the rotating window; a half with fewer samples than needed may grow this much older. */
  sketchHalfMs: 12_000,
  sketchHalfMaxMs: 60_000,
  /** Samples before a tail quantile, and before a median, is believed. */
  tailSamplesMin: 200,
  medianSamplesMin: 20,
  /** Samples before a class is remembered to be so far away. */
  memorySamplesMin: 5,
  /** Without a healthy replica for so long, a class is judged by what its suspects take. */
  forlornAfterMs: 2_000,
  /** How often thresholds are worked out anew. */
  refreshMs: 250,
  /** How fast the remembered typical latency of a class follows its median, upwards and downwards. */
  memoryRiseMs: 900_000,
  memoryFallMs: 10_000,
  /** A class this many times slower than it is remembered suffers as a whole: hedges leave the region. */
  strainedFactor: 3,

  // Health
  /**
   * Weights of a new answer in a replica's moving averages, and how fast they fade while nothing is heard.
   */
  averageWeight: 0.1,
  lateShareWeight: 0.03,
  averageDecayMs: 10_000,
  /** A replica with a wait so much longer than its class's best goes behind the others of its class. */
  slowFactor: 2.5,
  /** Predictions nearer to each other than this count as equal: chance decides. */
  equalFactor: 1.5,
  /**
   * So many requests in flight beyond its peers' make a wait about eight times as long: (1 + n / (8 +
   * mean))^3. Fewer are no queue, and among many a few more are chance.
   */
  queueScale: 8,
  /** A class is passed over only when its median is worse by this factor than the next one's. */
  passOverFactor: 1.2,
  /**
   * Unanswered requests in a row that make a suspect; one that failed, or whose silence was long enough to
   * send the question on, counts twice, and one that timed out makes one. A healthy replica's are cancelled
   * one time in twenty: six in a row happen once in 64 million.
   */
  alarmMax: 6,
  /** What such a plain case counts; from here on a replica is in doubt, which a probe settles. */
  alarmDoubt: 2,
  /** Good answers in a row that clear a suspect; doubled when it relapses, up to the most. */
  clearingAnswers: 3,
  clearingAnswersMax: 24,
  /** A suspect that stayed healthy for so long after it was cleared starts afresh. */
  relapseWithinMs: 60_000,
  /**
   * Without new evidence for so long a suspect gets one read on trial; for so long, and it is none any more.
   */
  suspicionMs: limits.suspectMs,
  suspicionMaxMs: 60_000,
  /**
   * Pause before the next probe: of a suspect after a good answer and of a class that is passed over; of a
   * new suspect; doubling with every bad answer up to the most.
   */
  probeAgainMs: 1_000,
  probePauseMs: 250,
  probePauseMaxMs: 4_000,
  /** Replicas of which health is remembered, at most; the longest idle are forgotten. */
  replicasMax: 1_024,
} as const;

assert(
  readLimits.hedgeDelayMaxMs < readLimits.silenceMaxMs &&
    readLimits.silenceMaxMs < readLimits.attemptTimeoutMs,
  "a hedge comes before failover, failover before the attempt is given up",
);
assert(
  readLimits.suspicionMs > readLimits.probePauseMaxMs,
  "probes keep the suspicion of a dead bookie alive",
);
