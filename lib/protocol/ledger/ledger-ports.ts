/**
 * What every ledger operation is given, from the most general to the most specific, and what each is built
 * on: one call to one bookie, bounded in time, and the age of what it may answer from.
 *
 * A call returns an answer or `unknown`; unknown is never a negative (rule 21). Every bookie call is safe to
 * repeat, so one lost message is not yet a failure.
 */

import type { Age, Clock } from "../deadline.ts";
import { messageOf, type Unknown } from "../errors.ts";
import type { LedgerId, Region } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Placement } from "../placement/placement.ts";
import type { Bookie, Bookies, Digest, MetadataStore, Topology, Trace } from "../ports.ts";
import type { Random } from "../random.ts";
import type { BookieHealths } from "../reads/bookie-health.ts";
import type { ReadPolicy } from "../reads/read-policy.ts";
import type { BookieAddress } from "../replication.ts";
import { type CallSignal, pause, withTimeout } from "../waiting.ts";

export interface LedgerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly trace: Trace;
  readonly metadata: MetadataStore;
  readonly bookies: Bookies;
  readonly topology: Topology;
  readonly placement: Placement;
  /** What this process knows about reading: order, hedges, failover and their budgets. */
  readonly reads: ReadPolicy;
  /** How bookies do, as this process sees it; behind `reads` as well. */
  readonly health: BookieHealths;
  /** Where this process runs. */
  readonly region: Region;
}

/** Longer than `callBookie` takes, with all its attempts. */
export const CALL_MS_MAX =
  limits.bookieCallAttempts * (limits.bookieCallTimeoutMs + limits.bookieCallPauseMs);

interface BookieCall {
  readonly ledgerId: LedgerId;
  readonly bookie: BookieAddress;
  /** What is called, for traces: "add 12". */
  readonly what: string;
  /** The call was cancelled: nothing is held against the bookie then. */
  readonly signal?: CallSignal;
}

/** Tries the call `limits.bookieCallAttempts` times before its outcome counts as unknown. */
export async function callBookie<T>(
  ports: LedgerPorts,
  { ledgerId, bookie, what, signal }: BookieCall,
  call: (bookie: Bookie) => Promise<T>,
): Promise<T | Unknown> {
  let reason = "not asked";
  for (let attempt = 1; attempt <= limits.bookieCallAttempts; attempt++) {
    try {
      if (attempt > 1) await pause(ports.clock, limits.bookieCallPauseMs, signal);
      const answer = await callOnce(ports, bookie, what, call, signal);
      ports.health.of(bookie.id).callAnswered();
      return answer;
    } catch (error) {
      reason = messageOf(error);
    }
    if (signal?.aborted === true) return { kind: "unknown", reason };
  }
  ports.health.of(bookie.id).callFailed();
  ports.trace.emit({ event: "bookie-failed", ledgerId, bookie: bookie.id, call: what, reason });
  return { kind: "unknown", reason };
}

/** One attempt, as the read policy sends it, which counts the bookie's answers itself. */
export function callOnce<T>(
  { clock, bookies }: LedgerPorts,
  { id }: BookieAddress,
  what: string,
  call: (bookie: Bookie) => Promise<T>,
  signal: CallSignal | undefined,
): Promise<T> {
  return withTimeout(clock, limits.bookieCallTimeoutMs, what, () => call(bookies.bookie(id)), signal);
}

/**
 * Whether what was read may still be answered from: the one clock assumption (rule 15). A process whose last
 * consistent metadata read is older than a quarter of the seal age acknowledges nothing and answers nothing
 * until it has read again. Measured by both clocks: a frozen process's monotonic one may stand still, and a
 * wall clock that went back proves nothing. `readAt`: from before the read began.
 */
export function isFresh(readAt: Age | undefined): boolean {
  return readAt?.isWithin(limits.metadataAgeMaxMs) === true;
}
