/**
 * One question to one bookie, bounded in time. What comes back is an answer or `unknown`; unknown is never
 * a negative (rule 21). Every bookie call is safe to repeat, so one lost message is not yet a failure.
 */
import type { CallSignal } from "../call-abort.ts";
import type { EntryId, LedgerId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { Bookie } from "../ports.ts";
import { pause, within } from "../waiting.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

export interface Unknown {
  readonly kind: "unknown";
  readonly reason: string;
}

interface Question<T> {
  readonly ledgerId: LedgerId;
  readonly bookie: BookieAddress;
  /** What is asked, for traces: "add 12". */
  readonly what: string;
  readonly call: (bookie: Bookie) => Promise<T>;
  /** Tries before the outcome counts as unknown. */
  readonly attempts?: number;
  /** Nobody waits any more: nothing is held against the bookie then. */
  readonly signal?: CallSignal;
}

export async function askBookie<T>(ports: LedgerPorts, question: Question<T>): Promise<T | Unknown> {
  const { bookie, what, attempts = limits.bookieCallAttempts, signal } = question;
  let reason = "not asked";
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      if (attempt > 1) await pause(ports.clock, limits.bookieCallPauseMs, signal);
      const ask = () => question.call(ports.bookies.bookie(bookie.id));
      const answer = await within(ports.clock, limits.bookieCallTimeoutMs, what, ask, signal);
      ports.health.of(bookie.id).callAnswered();
      return answer;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (signal?.aborted === true) return { kind: "unknown", reason };
  }
  ports.health.of(bookie.id).callFailed();
  ports.trace.emit({
    event: "bookie-failed",
    ledgerId: question.ledgerId,
    bookie: bookie.id,
    call: what,
    reason,
  });
  return { kind: "unknown", reason };
}

/** Names a call on one entry. */
export const entryCall = (call: string, entry: EntryId): string => `${call} ${entry}`;
