/** A region's inbox as one of its processes sees it: the store at the end of a message path. */
import type { MemoryInboxStore } from "../../lib/adapters/memory/memory-inbox-store.ts";
import type { LogIncarnation } from "../../lib/protocol/ids.ts";
import type {
  AnsweredTicket,
  InboxAnswer,
  InboxPage,
  InboxQuery,
  InboxRequest,
  InboxStore,
  Ticket,
} from "../../lib/protocol/log/inbox-store.ts";
import type { MessagePath } from "./message-path.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** How often a stale read sees the state from before an answer was put. */
const STALE = 0.2;

export class InboxPath implements InboxStore {
  constructor(
    private readonly path: MessagePath,
    private readonly store: MemoryInboxStore,
    private readonly random: SeededRandom,
  ) {}

  post(log: LogIncarnation, request: InboxRequest): Promise<void> {
    return this.#operate((store) => store.post(log, request));
  }

  requests(log: LogIncarnation, query: InboxQuery): Promise<InboxPage> {
    return this.#operate((store) => store.requests(log, query));
  }

  answer(log: LogIncarnation, answers: readonly AnsweredTicket[]): Promise<readonly Ticket[]> {
    return this.#operate((store) => store.answer(log, answers));
  }

  readAnswer(
    log: LogIncarnation,
    ticket: Ticket,
    consistency: "consistent" | "stale",
  ): Promise<InboxAnswer | undefined> {
    const isOld = consistency === "stale" && this.random.chance(STALE);
    return this.#operate(async (store) => (isOld ? undefined : await store.readAnswer(log, ticket)));
  }

  #operate<T>(act: (store: MemoryInboxStore) => Promise<T>): Promise<T> {
    return this.path.call<T>((service, reply) => {
      if (!service.effect) return reply.fail(service.failure);
      act(this.store).then((result) => {
        if (service.failure === undefined) reply.answer(result);
        else reply.fail(service.failure);
      }, reply.fail);
    });
  }
}
