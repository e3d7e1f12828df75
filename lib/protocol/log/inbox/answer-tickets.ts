/**
 * Putting answers (rule 38): a ticket is answered when the reply to the put has been received; until then the
 * put is repeated. It does not say what the answer is: the holder does (serve), or a closed ledger (decide).
 */
import { Age, type Clock } from "../../deadline.ts";
import { FencelineError, unavailable } from "../../errors.ts";
import type { LogIncarnation, TicketId } from "../../ids.ts";
import { pause, withTimeout } from "../../waiting.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { AnsweredTicket, InboxAnswer, InboxStore } from "../inbox-store.ts";
import type { AppendAnswer } from "../log-ports.ts";

interface AnswerPorts {
  readonly inbox: InboxStore;
  readonly clock: Clock;
}

/** Puts what it can, once. Returns what is not known to be put. Never throws what a store throws. */
export async function tryAnswers(
  { inbox, clock }: AnswerPorts,
  log: LogIncarnation,
  answers: readonly AnsweredTicket[],
): Promise<readonly AnsweredTicket[]> {
  if (answers.length === 0) return [];
  try {
    const put = await withTimeout(clock, inboxLimits.callTimeoutMs, "inbox answers", () =>
      inbox.answer(log, answers),
    );
    const known = new Set<TicketId>(put.map(({ id }) => id));
    return answers.filter(({ ticket }) => !known.has(ticket.id));
  } catch (error) {
    if (error instanceof FencelineError) return answers;
    throw error;
  }
}

/** Resolves when every answer is put; throws `unavailable` if that takes longer than `lastAnswersMs`. */
export async function putAnswers(
  ports: AnswerPorts,
  log: LogIncarnation,
  answers: readonly AnsweredTicket[],
): Promise<void> {
  const { clock } = ports;
  const since = new Age(clock);
  let left = answers;
  while (true) {
    left = await tryAnswers(ports, log, left);
    if (left.length === 0) return;
    if (since.isOlder(inboxLimits.lastAnswersMs)) break;
    await pause(clock, inboxLimits.putPauseMs);
  }
  throw unavailable(`log ${log}: the answers to ${left.length} posted appends could not be put`, "possible");
}

/**
 * What a posted append's verdict says to its poster. Undefined: nothing that is certain, so the closed ledger
 * will (40). A refusal is for ever or true at its place; what time may mend was not served.
 */
export function answerFor(answer: AppendAnswer): InboxAnswer | undefined {
  if (answer.kind === "acknowledged") {
    const { durableIn: _, ...ack } = answer.ack;
    return { kind: "recorded", ack };
  }
  if (answer.kind !== "failed") return NOT_SERVED;
  const { error, ruledOut } = answer;
  if (!(error instanceof FencelineError) || error.sideEffects !== "none") return undefined;
  return error.retryable ? NOT_SERVED : { kind: "refused", error, ...(ruledOut ? { ruledOut } : {}) };
}

export const NOT_SERVED: InboxAnswer = { kind: "not-served" };
