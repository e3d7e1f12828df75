/**
 * Appends that this process posted to the one that serves the log (rules 36 and 39), until they are answered
 * or free to go elsewhere.
 *
 * PP1 While a ticket is in doubt, its batch goes nowhere else: it is not in this process's queue (U11, U12).
 * PP2 An append whose time is over is answered with unknown_outcome, whatever the ticket still leads to: it
 *     withdraws nothing (41).
 */
import { unreachable } from "../../assert.ts";
import { Age } from "../../deadline.ts";
import type { FencelineError } from "../../errors.ts";
import type { VersionedLease } from "../../ports.ts";
import type { DecidePorts } from "../inbox/decide-owed.ts";
import { newPost, postAppend } from "../inbox/post-append.ts";
import { type TicketOutcome, waitForAnswer } from "../inbox/wait-for-answer.ts";
import type { InboxAnswer, PostedAppend } from "../inbox-store.ts";
import { isExpired, isServed, leasePorts, readLease, type ServedElsewhere } from "../lease/lease-steps.ts";
import { type AppendAnswer, failed, type LogPorts } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { notOwner } from "../opening/not-the-writer.ts";
import { postedUnknown, withoutEffect } from "./append-errors.ts";
import { controlAppend, type PendingAppend } from "./pending-appends.ts";

export class PostedAppends {
  #count = 0;

  /** `free`: gets an append that is certainly not recorded, and not answered either. */
  constructor(
    private readonly ports: DecidePorts,
    private readonly log: LogRef,
    private readonly free: (append: PendingAppend) => void,
  ) {}

  /** Every post was answered, or its append's time is over. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  postAll(appends: readonly PendingAppend[], { found, since }: ServedElsewhere): void {
    for (const append of appends) void this.post(append, found, since);
  }

  /** Posts the append to the tenure that serves, by a read that began at `since`. */
  async post(append: PendingAppend, found: VersionedLease, since: Age): Promise<void> {
    this.#count += 1;
    try {
      await this.#post(append, found, since);
    } catch (error) {
      append.fail(error); // a defect, after which the outcome is unknown
    } finally {
      this.#count -= 1;
    }
  }

  async #post(append: PendingAppend, found: VersionedLease, since: Age): Promise<void> {
    const post = newPost(this.ports, found, since);
    let refused: FencelineError | undefined;
    let isDecided = false;
    append.sent(() => postedUnknown(this.log.name, append.batch, "its holder did not answer in time"));
    const isOver = () => append.isAnswered || refused !== undefined || isDecided;
    const putting = postAppend(this.ports, this.log.incarnation, post, contentOf(append), isOver);
    putting.then(
      (posted) => {
        if (posted.kind === "refused") refused = posted.error;
      },
      (error) => append.fail(error), // a defect, as below
    );
    const outcome = await waitForAnswer(this.ports, this.log, post, isOver);
    isDecided = true;
    const answer = this.#answerTo(append, outcome, refused);
    if (answer === "free") append.notRecorded();
    if (answer === "free") this.free(append);
    else if (answer !== undefined) append.answer(answer);
  }

  /** "free": not recorded by this ticket, now or ever. Undefined: its deadline has answered it (PP2). */
  #answerTo(
    { batch }: PendingAppend,
    outcome: TicketOutcome,
    refused: FencelineError | undefined,
  ): AppendAnswer | "free" | undefined {
    switch (outcome.kind) {
      case "answered":
        return given(outcome.answer);
      case "not-recorded":
        return "free";
      case "unknown":
        return failed(postedUnknown(this.log.name, batch, outcome.reason));
      case "over":
        return refused === undefined ? undefined : failed(withoutEffect(refused));
      default:
        return unreachable(outcome);
    }
  }
}

function given(answer: InboxAnswer): AppendAnswer | "free" {
  switch (answer.kind) {
    case "recorded":
      return { kind: "acknowledged", ack: answer.ack };
    case "refused":
      return { kind: "failed", error: answer.error, ...(answer.ruledOut ? { ruledOut: true } : {}) };
    case "not-served":
      return "free";
    default:
      return unreachable(answer);
  }
}

/** Undefined: this process has nobody to post to. `free`: as `PostedAppends` says. */
export function postedAppends(
  ports: LogPorts,
  log: LogRef,
  free: (append: PendingAppend) => void,
): PostedAppends | undefined {
  const { leases, inbox } = ports;
  if (leases === undefined || inbox === undefined) return undefined;
  return new PostedAppends({ ...ports, leases, inbox }, log, free);
}

/**
 * Settles the tail through the process that serves the log: posts a request without records, and waits for it
 * (42). False: none serves, as far as its lease goes, or it did not record it.
 */
export async function settleByPost(ports: LogPorts, log: LogRef): Promise<boolean> {
  const { leases, inbox, clock } = ports;
  if (leases === undefined || inbox === undefined) return false;
  const since = new Age(clock);
  const found = await readLease(leasePorts(ports, leases), log.incarnation).catch(() => undefined);
  if (found === undefined || !isServed(found.lease) || isExpired(clock, found.lease)) return false;
  const control = controlAppend(clock, log);
  const posts = new PostedAppends({ ...ports, leases, inbox }, log, () => control.fail(notOwner(log.name)));
  await posts.post(control, found, since);
  return (await control.outcome).kind === "acknowledged";
}

function contentOf({ batch }: PendingAppend): PostedAppend {
  const { records, matchSeqNum, sender } = batch;
  const { id, epoch, seq } = sender ?? {};
  return {
    records,
    ...(matchSeqNum === undefined ? {} : { matchSeqNum }),
    ...(id === undefined || epoch === undefined || seq === undefined ? {} : { sender: { id, epoch, seq } }),
  };
}
