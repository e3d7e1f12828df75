/** Bounds of takeovers and transfers beside those in limits.ts. Their relations are asserted on load. */
import { assert } from "../../assert.ts";
import { limits } from "../../limits.ts";

export const ownerLimits = {
  /**
   * Within so long a time appends resume after a process, or a region, is lost. A process: its lease runs out
   * (2 s), the next one looks (40 ms at most), and recovers. An owner's region: an append in flight is
   * watched (350 ms), three questions stay without an answer (three times 700 ms and a pause of 200 ms at
   * most), and the next owner recovers.
   */
  resumeMs: 5_000,
  /**
   * What is left for recovery: the lease, the fence, the tail's entries read and written back, the close, the
   * next ledger and its election, and the first append to it; some twenty round trips one after another. With
   * a third of the bookies silent it waits for them once, `writeBackPatienceMs`, or not at all.
   */
  recoveryUsualMs: 1_900,
  /** Time for a log to change its owner: the opening of a segment, and the wait for the lease before it. */
  transferTimeoutMs: 20_000,
  /** Wait for the owner to settle a tail before one's own region takes over. */
  settleWaitMs: 1_500,
  /** Pause before a region that is draining, or cannot own, tries again to hand a log over. */
  handOverPauseMs: 2_000,
  /**
   * Age from which what operators said of regions moves no log: several times the age at which a process
   * reads it anew, so only one that was frozen, or reaches no metadata, is that far behind.
   */
  regionStatesAgeMaxMs: 60_000,
} as const;

assert(
  limits.leaseTtlMs + 2 * limits.leasePollMs + ownerLimits.recoveryUsualMs <= ownerLimits.resumeMs &&
    limits.ownerWatchMs +
      limits.ownerFailuresMin * (limits.ownerAskTimeoutMs + 2 * limits.ownerRetryPauseMs) +
      ownerLimits.recoveryUsualMs <=
      ownerLimits.resumeMs,
  "appends resume in time after the loss of a process, and of a region",
);
assert(
  2 * limits.writeBackPatienceMs < ownerLimits.recoveryUsualMs,
  "silent bookies take less than half of what recovery has",
);
assert(
  limits.leaseWaitMs + limits.segmentOpenTimeoutMs < ownerLimits.transferTimeoutMs,
  "a transfer outlives one wait for the lease and one opening of a segment",
);
