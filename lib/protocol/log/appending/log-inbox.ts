/**
 * The log's inbox as its writer serves it: posted appends go through the writer's queue like its own, but in
 * one tenure only (rules 37 and 38).
 *
 *     wanted ──segment opened──> listed ──release, failure──> closed ──drained──> released
 *
 * IX1 A posted append is sent only in its ticket's tenure, to a ledger whose listing is known (37a); what
 *     waits when the tenure ends was not served.
 * IX2 A tenure that was listed ends after a failure: only another one lists the next ledger (37b).
 */
import { assert, present } from "../../assert.ts";
import { Age } from "../../deadline.ts";
import type { BookieId, EntryId } from "../../ids.ts";
import { pause, type Signal } from "../../waiting.ts";
import { answerFor, NOT_SERVED } from "../inbox/answer-tickets.ts";
import { keepOwed } from "../inbox/decide-owed.ts";
import { ServedTickets } from "../inbox/served-tickets.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { InboxRequest } from "../inbox-store.ts";
import type { WriterLease } from "../lease/writer-lease.ts";
import { type AppendAnswer, failed, type LogPorts } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { leaseLost } from "../opening/not-the-writer.ts";
import type { LeftSegment } from "../opening/start-segment.ts";
import type { ActiveSegment } from "./active-segment.ts";
import { batchSender, checkAppend } from "./append-checks.ts";
import { type AppendQueue, appendDeadline, PendingAppend } from "./pending-appends.ts";

/** Parts of the writer. */
interface WriterParts {
  readonly lease: WriterLease;
  readonly queue: AppendQueue;
  readonly changed: Signal;
}

export class LogInbox {
  #isWanted = false;
  /** The tickets of the present tenure, once its ledger is listed. */
  #served: ServedTickets | undefined;

  /** `accept`: puts an append in the writer's queue. */
  constructor(
    private readonly ports: LogPorts,
    private readonly log: LogRef,
    private readonly writer: WriterParts,
    private readonly accept: (append: PendingAppend) => Promise<AppendAnswer>,
  ) {}

  /** This process is to serve, and has not given up. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** From here on the writer takes the lease, opens a segment and has it listed, also without an append. */
  serve(): void {
    this.#isWanted = this.ports.leases !== undefined && this.ports.inbox !== undefined;
    this.writer.changed.wake();
  }

  /** This process serves no more, once what it has sent is answered. */
  giveUp(): void {
    this.#isWanted = false;
    this.#served?.close();
  }

  /** A ledger of the present tenure is on the list, or was. */
  get isListed(): boolean {
    return this.#served !== undefined;
  }

  /** Takes requests. Their number; undefined while this process does not serve. */
  async take(): Promise<number | undefined> {
    const served = this.#served;
    if (served === undefined || served.isClosed) return undefined;
    if (this.writer.lease.isDue) this.writer.changed.wake();
    const requests = await served.take();
    for (const request of requests) this.#take(served, request);
    return requests.length;
  }

  #take(served: ServedTickets, { ticket, append }: InboxRequest): void {
    const { clock } = this.ports;
    const { name } = this.log;
    if (served.isClosed) {
      served.answer(ticket, NOT_SERVED);
      return;
    }
    const request = { log: name, ...append };
    try {
      const bytes = append.records.length === 0 ? 0 : checkAppend(request, clock.nowMs());
      const batch = { ...append, bytes, sender: batchSender(this.ports, request), ticket };
      const posted = new PendingAppend(clock, name, appendDeadline(clock, name), batch);
      void this.accept(posted).then((answer) => {
        const said = answerFor(answer);
        if (said !== undefined) served.answer(ticket, said);
      });
    } catch (error) {
      served.answer(ticket, answerFor(failed(error)) ?? NOT_SERVED);
    }
  }

  /** Lists the segment's ledger (37a, 37b). If that may not have happened, this process does not serve. */
  async list({ opened }: Pick<ActiveSegment, "opened">): Promise<void> {
    const of = await this.writer.lease.list(opened.item.ledgerId);
    const { inbox } = this.ports;
    if (of === undefined || inbox === undefined) {
      this.#isWanted = false;
      this.close();
    } else if (this.#served !== undefined) {
      this.#served.moveTo(of);
    } else {
      const { clock } = this.ports;
      this.#served = new ServedTickets({ clock, inbox }, this.log.incarnation, of, this.writer.changed);
    }
  }

  /** Renews the lease; an item that does not list the ledger any more ends this service. */
  async keepLease({ writer }: Pick<ActiveSegment, "writer">): Promise<"kept" | "wanted" | "lost"> {
    const kept = await this.writer.lease.keep([...writer.suspects], this.#served);
    if (this.#served?.isClosed === true) this.close();
    return kept;
  }

  /** Whether the entry may be sent, whatever it carries (37c). */
  mayAdd(entry: EntryId): boolean {
    return this.#served?.mayAdd(entry) ?? true;
  }

  /** The appends went out in that entry. */
  sent(appends: readonly PendingAppend[], { opened }: Pick<ActiveSegment, "opened">, entry: EntryId): void {
    for (const { batch } of appends) {
      if (batch.ticket === undefined) continue;
      const served = present(this.#served, "IX1: a ticket is sent in its own tenure");
      assert(
        !served.isClosed && served.of.tenure === batch.ticket.tenure,
        "IX1: a ticket is sent in its own tenure",
      );
      assert(served.of.ledgerId === opened.item.ledgerId, "IX1: a ticket is sent to a listed ledger");
      served.sent(batch.ticket, entry);
    }
  }

  /** Takes no more in this tenure; posted appends that wait were not served. */
  close(): void {
    if (this.#served === undefined) return;
    this.#served.close();
    for (const append of this.writer.queue.waiting()) this.#notServed(append);
    this.writer.queue.dropAnswered();
  }

  #notServed(append: PendingAppend): void {
    if (append.batch.ticket !== undefined) append.fail(leaseLost(this.log.name));
  }

  /** In line again, but for posted appends (IX1). The most restarts among them. */
  restart(appends: readonly PendingAppend[]): number {
    for (const append of appends) this.#notServed(append);
    return this.writer.queue.restart(appends);
  }

  /** The lease was looked at: what was taken in a tenure that is over was not served (IX1). */
  entered(): void {
    if (this.#served === undefined || this.#served.of.tenure === this.writer.lease.tenure) return;
    this.close();
    this.#served = undefined;
  }

  /** Waits for answers to be put, for a while. Whether all that was sent is answered. */
  async drain(): Promise<boolean> {
    const since = new Age(this.ports.clock);
    while (this.#served?.isAnswered === false && since.isWithin(inboxLimits.lastAnswersMs)) {
      await pause(this.ports.clock, inboxLimits.drainPauseMs);
    }
    return this.#served?.isSentAnswered !== false;
  }

  /** Releases the lease. A process that served decides before it what former tenures owe, if it can (40). */
  async release(left: LeftSegment | undefined, suspects: Iterable<BookieId> | undefined): Promise<void> {
    const { leases, inbox } = this.ports;
    if (this.#served !== undefined && leases !== undefined && inbox !== undefined) {
      await keepOwed({ ...this.ports, leases, inbox }, this.log).catch(() => {});
    }
    await this.writer.lease.release(left, suspects, this.#served);
    this.#served = undefined;
  }
}
