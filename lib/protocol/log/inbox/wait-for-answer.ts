/**
 * Waiting (rule 39): what became of a ticket. An answer that is there counts, whenever and however it was
 * read. That there is none proves something only in this order:
 *
 *     (i)  a consistent read of the lease, by which the ticket's tenure owes nothing
 *     (ii) then, begun after (i) returned, a consistent read of the answer: none
 *     (iii) then, by both clocks of this process: the post is younger than a quarter of the keeping time
 *
 * WA1 Lease and answer are never read together, nor the answer first (U18).
 * WA2 An item of another birth, no item, or a ledger that is gone: the outcome is unknown (U06, U07).
 * WA3 An expired lease proves nothing: this process acquires it, so that the tenure is another, and decides
 *     what the former one owed (U19, U27, U28). Neither opens a segment (U14).
 *
 * It does not post again, and it does not say whether the batch may go elsewhere now: its caller does.
 */
import { Age } from "../../deadline.ts";
import type { Lease, OwedLedger } from "../../lease.ts";
import type { VersionedLease } from "../../ports.ts";
import { randomBelow } from "../../random.ts";
import { pause, withTimeout } from "../../waiting.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { InboxAnswer, Ticket } from "../inbox-store.ts";
import {
  type LeasePorts,
  LeaseWatch,
  leasePorts,
  readLease,
  releaseLease,
  takeLease,
} from "../lease/lease-steps.ts";
import type { LogRef } from "../log-ref.ts";
import { type DecidePorts, decideOwed } from "./decide-owed.ts";
import type { Post } from "./post-append.ts";

export type TicketOutcome =
  | { readonly kind: "answered"; readonly answer: InboxAnswer }
  /** It is not recorded, and never will be by this ticket. */
  | { readonly kind: "not-recorded" }
  | { readonly kind: "unknown"; readonly reason: string }
  /** `isOver` said so first; nothing is known. */
  | { readonly kind: "over" };

/** What the lease item says of a ticket (39 i). */
type LeaseVerdict =
  | { readonly kind: "unknown"; readonly reason: string }
  /** Its tenure holds the lease, as far as the item says, and may serve it. */
  | { readonly kind: "serving" }
  /** Its tenure is over, or as good as over, and this ledger may hold the ticket. */
  | { readonly kind: "owed"; readonly owed: OwedLedger }
  /** Its tenure owes nothing. */
  | { readonly kind: "settled" };

function judgeTicket(ticket: Ticket, lease: Lease | undefined): LeaseVerdict {
  if (lease === undefined) return { kind: "unknown", reason: "the lease item is gone" };
  if (lease.birth !== ticket.birth) return { kind: "unknown", reason: "the lease item was made anew" };
  const owed = lease.owed.find(({ tenure }) => tenure === ticket.tenure);
  const isOver = lease.tenure !== ticket.tenure || lease.expiresAtMs === 0;
  if (isOver) return owed === undefined ? { kind: "settled" } : { kind: "owed", owed };
  const isBelowFloor = lease.floor !== undefined && ticket.revision <= lease.floor;
  return { kind: isBelowFloor ? "settled" : "serving" };
}

export async function waitForAnswer(
  ports: DecidePorts,
  log: LogRef,
  { ticket, age }: Post,
  isOver: () => boolean,
): Promise<TicketOutcome> {
  const waiting = new TicketWait(ports, log, ticket);
  while (!isOver()) {
    const answer = await waiting.lookForAnswer();
    if (answer !== undefined) return { kind: "answered", answer };
    const verdict = await waiting.lookAtLease();
    if (verdict.kind === "unknown") return verdict;
    if (verdict.kind === "settled") {
      const late = await waiting.readAnswer("consistent"); // (ii)
      if (late === "silent") continue;
      if (late !== undefined) return { kind: "answered", answer: late };
      if (age.isWithin(inboxLimits.absenceMsMax)) return { kind: "not-recorded" }; // (iii)
      return { kind: "unknown", reason: "the answer may have been removed since" };
    }
    await waiting.pause();
  }
  return { kind: "over" };
}

/** One ticket's looks at its answer and at the lease, each at its own pace. */
class TicketWait {
  readonly #watch: LeaseWatch;
  #answerPauseMs: number = inboxLimits.answerPollMs;
  #looked: Age;
  #leasePauseMs: number = inboxLimits.leasePollMs;
  #verdict: LeaseVerdict = { kind: "serving" };

  constructor(
    private readonly ports: DecidePorts,
    private readonly log: LogRef,
    private readonly ticket: Ticket,
  ) {
    this.#watch = new LeaseWatch(ports.clock);
    this.#looked = new Age(ports.clock);
  }

  async lookForAnswer(): Promise<InboxAnswer | undefined> {
    const answer = await this.readAnswer("stale");
    return answer === "silent" ? undefined : answer;
  }

  async readAnswer(consistency: "consistent" | "stale"): Promise<InboxAnswer | "silent" | undefined> {
    const { clock, inbox } = this.ports;
    return await withTimeout(clock, inboxLimits.callTimeoutMs, "inbox answer", () =>
      inbox.readAnswer(this.log.incarnation, this.ticket, consistency),
    ).catch(() => "silent");
  }

  /** What it last said, until the next look is due. A ticket that is owed is decided first. */
  async lookAtLease(): Promise<LeaseVerdict> {
    if (this.#looked.isWithin(this.#leasePauseMs)) return this.#verdict;
    this.#verdict = await this.#ask();
    const owedMs = inboxLimits.owedPollMs + randomBelow(this.ports.random, inboxLimits.owedPollMs);
    this.#leasePauseMs = this.#verdict.kind === "serving" ? inboxLimits.leasePollMs : owedMs;
    this.#looked = new Age(this.ports.clock);
    return this.#verdict;
  }

  async #ask(): Promise<LeaseVerdict> {
    const found = await readLease(this.#leases, this.log.incarnation).catch(() => "silent" as const);
    if (found === "silent") return { kind: "serving" };
    const verdict = judgeTicket(this.ticket, found?.lease);
    if (found === undefined || verdict.kind === "unknown" || verdict.kind === "settled") return verdict;
    if (found.lease.tenure === this.ticket.tenure) {
      if (this.#watch.isFree(found.lease)) await this.#passTenure(found);
      return verdict;
    }
    if (verdict.kind !== "owed") return verdict;
    const decided = await decideOwed(this.ports, this.log, verdict.owed).catch(() => "unsaid" as const);
    if (decided === "gone") return { kind: "unknown", reason: `ledger ${verdict.owed.ledgerId} is gone` };
    return verdict;
  }

  /** WA3: makes the tenure another one; the next look decides. */
  async #passTenure(found: VersionedLease): Promise<void> {
    const { holder } = this.ports.leases;
    const acquired = await takeLease(this.#leases, this.log.incarnation, holder, found);
    if (acquired !== undefined)
      await releaseLease(this.#leases, acquired.held, { suspects: found.lease.suspects });
  }

  get #leases(): LeasePorts {
    return leasePorts(this.ports, this.ports.leases);
  }

  async pause(): Promise<void> {
    await pause(this.ports.clock, this.#answerPauseMs);
    this.#answerPauseMs = Math.min(
      inboxLimits.answerPollMsMax,
      this.#answerPauseMs * inboxLimits.answerPollGrowth,
    );
  }
}
