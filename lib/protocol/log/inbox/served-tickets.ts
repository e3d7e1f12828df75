/**
 * Serving (rules 37 and 38): the tickets of one tenure, at the process that holds it.
 *
 *     found ──taken──> waiting ──sent──> in an entry ──acknowledged, or found by recovery──> to be answered
 *                         └──refused, or never to be sent──────────────────────────────────────┘     │
 *                                                                               answered <──reply────┘
 *
 * SV1 Only requests of its birth and tenure, of a revision above every floor that it has sent, each once in
 *     the tenure, and none once it is closed, which is before a release is sent (U08, U09, U15, U17, U26).
 * SV2 Its tickets are sent to the ledger that it names, whose listing is known (U01, U02).
 * SV3 No entry, of whomever, is sent while a ticket `answerWindow` or more entries before it is unanswered
 *     (U03, U04).
 * SV4 A ticket is answered when the reply to the put was received; until then the put is repeated (U16).
 *
 * It does not judge a request: the log's writer does, as it judges every append.
 */
import { assert } from "../../assert.ts";
import { Age, type Clock } from "../../deadline.ts";
import type { EntryId, LogIncarnation, TicketId } from "../../ids.ts";
import { pause, type Signal, withTimeout } from "../../waiting.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { AnsweredTicket, InboxAnswer, InboxRequest, InboxStore, Ticket } from "../inbox-store.ts";
import type { TicketsOf } from "../lease/writer-lease.ts";
import { tryAnswers } from "./answer-tickets.ts";

interface ServePorts {
  readonly inbox: InboxStore;
  readonly clock: Clock;
}

/** A ticket that was taken and is not answered. */
interface OpenTicket {
  readonly revision: number;
  /** The entry that carries it, once it was sent. */
  readonly entry?: EntryId;
}

export class ServedTickets {
  readonly #open = new Map<TicketId, OpenTicket>();
  /** Every one that was taken, with its revision, as long as a query may show it again (SV1). */
  readonly #seen = new Map<TicketId, number>();
  #toPut: AnsweredTicket[] = [];
  #isPutting = false;
  #floor = 0;
  #closed: Age | undefined;

  /** `changed` wakes its waiters whenever tickets are answered. */
  constructor(
    private readonly ports: ServePorts,
    private readonly log: LogIncarnation,
    public of: TicketsOf,
    private readonly changed: Signal,
  ) {}

  /** Its tickets go to another ledger of the tenure, which is listed in place of the former one (37b). */
  moveTo(of: TicketsOf): void {
    assert(this.of.tenure === of.tenure && this.of.birth === of.birth, "SV1: tickets are of one tenure");
    for (const { entry } of this.#open.values())
      assert(entry === undefined, "37b: what was sent is answered");
    this.of = of;
  }

  /** Nothing that was sent waits for its answer to be put (37b). */
  get isSentAnswered(): boolean {
    return [...this.#open.values()].every(({ entry }) => entry === undefined);
  }

  /** Each ticket that was taken is answered, so the tenure owes nothing (38). */
  get isAnswered(): boolean {
    return this.#open.size === 0;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Takes none from here on, and repeats puts for `lastAnswersMs` more. */
  close(): void {
    this.#closed ??= new Age(this.ports.clock);
  }

  /** Requests that were not seen before; they are taken with that. Throws what the store throws. */
  async take(): Promise<readonly InboxRequest[]> {
    const entries = new Set([...this.#open.values()].map(({ entry }) => entry));
    if (this.isClosed || entries.size >= inboxLimits.unansweredEntriesMax) return [];
    const { birth, tenure } = this.of;
    const page = await withTimeout(this.ports.clock, inboxLimits.callTimeoutMs, "inbox query", () =>
      this.ports.inbox.requests(this.log, {
        birth,
        tenure,
        above: this.#floor,
        requestsMax: inboxLimits.queryRequestsMax,
        bytesMax: inboxLimits.queryBytesMax,
      }),
    );
    for (const ticket of page.damaged) if (this.#takes(ticket)) this.answer(ticket, { kind: "not-served" });
    return page.requests.filter(({ ticket }) => this.#takes(ticket));
  }

  /** SV1; also against what came while this was being closed, or a floor raised. */
  #takes({ id, birth, tenure, revision }: Ticket): boolean {
    if (this.isClosed || birth !== this.of.birth || tenure !== this.of.tenure) return false;
    if (revision <= this.#floor || this.#seen.has(id)) return false;
    this.#seen.set(id, revision);
    this.#open.set(id, { revision });
    return true;
  }

  /** The ticket is about to go out in this entry. */
  sent({ id, revision }: Ticket, entry: EntryId): void {
    this.#open.set(id, { revision, entry });
  }

  /** SV3 */
  mayAdd(entry: EntryId): boolean {
    for (const { entry: sentIn } of this.#open.values()) {
      if (sentIn !== undefined && entry - sentIn >= inboxLimits.answerWindow) return false;
    }
    return true;
  }

  /** Puts the answer, again and again (SV4). */
  answer(ticket: Ticket, answer: InboxAnswer): void {
    this.#toPut.push({ ticket, answer });
    if (!this.#isPutting) void this.#put();
  }

  async #put(): Promise<void> {
    this.#isPutting = true;
    await Promise.resolve(); // answers of one entry go together
    while (this.#toPut.length > 0 && this.#closed?.isOlder(inboxLimits.lastAnswersMs) !== true) {
      const sent = this.#toPut.splice(0);
      const left = await tryAnswers(this.ports, this.log, sent);
      for (const one of sent) if (!left.includes(one)) this.#open.delete(one.ticket.id);
      this.changed.wake();
      if (left.length === 0) continue;
      this.#toPut.unshift(...left);
      await pause(this.ports.clock, inboxLimits.putPauseMs);
    }
    this.#isPutting = false;
    this.changed.wake();
  }

  /**
   * How far the floor may be raised by a lease write that is sent now, over an item of that revision (38).
   * From here on none up to it is taken, whatever becomes of the write.
   */
  raiseFloor(revision: number): number {
    let floor = revision - inboxLimits.floorLag;
    for (const open of this.#open.values()) floor = Math.min(floor, open.revision - 1);
    if (floor <= this.#floor) return this.#floor;
    this.#floor = floor;
    for (const [id, seen] of this.#seen) if (seen <= floor) this.#seen.delete(id);
    return floor;
  }
}
