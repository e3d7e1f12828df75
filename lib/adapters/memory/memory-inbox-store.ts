/**
 * One region's inbox in memory: for the simulator and for tests. What is written passes through the stored
 * format, so that nothing is shared with the caller. Each call takes effect at once, before it returns its
 * promise.
 */
import {
  behindRevision,
  decodeAnswer,
  decodePosted,
  encodeAnswer,
  encodePosted,
  requestPartition,
  requestSort,
  ticketAddress,
  ticketOf,
} from "../../formats/inbox-format.ts";
import { FilledPage } from "../../formats/inbox-page.ts";
import type { Clock } from "../../protocol/deadline.ts";
import type { LogIncarnation } from "../../protocol/ids.ts";
import type {
  AnsweredTicket,
  InboxAnswer,
  InboxPage,
  InboxQuery,
  InboxRequest,
  InboxStore,
  Ticket,
} from "../../protocol/log/inbox-store.ts";
import { SortedMap } from "./sorted-map.ts";

interface Kept {
  readonly bytes: Uint8Array;
  readonly writtenAtMs: number;
}

export class MemoryInboxStore implements InboxStore {
  /** Requests by partition, in the order of their sort keys. */
  readonly #requests = new Map<string, SortedMap<Kept>>();
  readonly #answers = new Map<string, Kept>();

  constructor(private readonly clock: Pick<Clock, "nowMs">) {}

  async post(log: LogIncarnation, { ticket, append }: InboxRequest): Promise<void> {
    const partition = requestPartition(log, ticket);
    const requests = this.#requests.get(partition) ?? new SortedMap<Kept>();
    this.#requests.set(partition, requests);
    requests.set(requestSort(ticket), this.#kept(encodePosted(append)));
  }

  async requests(log: LogIncarnation, query: InboxQuery): Promise<InboxPage> {
    const page = new FilledPage(query);
    const requests = this.#requests.get(requestPartition(log, query));
    for (const [sort, { bytes }] of requests?.walk({ from: behindRevision(query.above) }, "ascending") ??
      []) {
      const ticket = ticketOf(query, sort);
      if (ticket !== undefined && !page.offer(ticket, () => decodePosted(bytes))) return page.end(false);
    }
    return page.end(true);
  }

  async answer(log: LogIncarnation, answers: readonly AnsweredTicket[]): Promise<readonly Ticket[]> {
    for (const { ticket, answer } of answers) {
      this.#answers.set(ticketAddress(log, ticket), this.#kept(encodeAnswer(answer)));
      this.#removeRequest(requestPartition(log, ticket), requestSort(ticket));
    }
    return answers.map(({ ticket }) => ticket);
  }

  async readAnswer(log: LogIncarnation, ticket: Ticket): Promise<InboxAnswer | undefined> {
    const kept = this.#answers.get(ticketAddress(log, ticket));
    return kept === undefined ? undefined : decodeAnswer(kept.bytes);
  }

  async sweep(beforeMs: number): Promise<number> {
    let removed = 0;
    for (const [address, { writtenAtMs }] of this.#answers) {
      if (writtenAtMs >= beforeMs) continue;
      this.#answers.delete(address);
      removed += 1;
    }
    for (const [partition, requests] of this.#requests) {
      for (const [sort, { writtenAtMs }] of [...requests.walk({}, "ascending")]) {
        if (writtenAtMs >= beforeMs) continue;
        this.#removeRequest(partition, sort);
        removed += 1;
      }
    }
    return removed;
  }

  /** What a disk may do to a request. */
  damage(log: LogIncarnation, ticket: Ticket): void {
    const requests = this.#requests.get(requestPartition(log, ticket));
    requests?.set(requestSort(ticket), this.#kept(Uint8Array.of(0x7b)));
  }

  #removeRequest(partition: string, sort: string): void {
    const requests = this.#requests.get(partition);
    requests?.delete(sort);
    if (requests?.size === 0) this.#requests.delete(partition);
  }

  #kept(bytes: Uint8Array): Kept {
    return { bytes, writtenAtMs: this.clock.nowMs() };
  }
}
