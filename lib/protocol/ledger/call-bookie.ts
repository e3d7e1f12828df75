/**
 * One call to one bookie, bounded in time. It returns an answer or `unknown`; unknown is never a negative
 * (rule 21). Every bookie call is safe to repeat, so one lost message is not yet a failure.
 */
import type { CallSignal } from "../call-abort.ts";
import type { LedgerId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { Bookie } from "../ports.ts";
import { pause, withTimeout } from "../waiting.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

export interface Unknown {
  readonly kind: "unknown";
  readonly reason: string;
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
      reason = error instanceof Error ? error.message : String(error);
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
