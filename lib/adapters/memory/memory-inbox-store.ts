/** One region's inbox in memory: for the simulator and for tests. */
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

export class MemoryInboxStore implements InboxStore {
  readonly #requests = new Map<string, InboxRequest>();
  readonly #answers = new Map<string, InboxAnswer>();

  async post(log: LogIncarnation, request: InboxRequest): Promise<void> {
    this.#requests.set(`${log}/${request.ticket.id}`, request);
  }

  async requests(log: LogIncarnation, query: InboxQuery): Promise<InboxPage> {
    const found = [...this.#requests]
      .filter(([key]) => key.startsWith(`${log}/`))
      .map(([, request]) => request)
      .filter(({ ticket: { birth, tenure, revision } }) => {
        return birth === query.birth && tenure === query.tenure && revision > query.above;
      })
      .sort((one, other) => one.ticket.revision - other.ticket.revision);
    const requests = found.slice(0, query.requestsMax);
    return { requests, damaged: [], isWhole: requests.length === found.length };
  }

  async answer(log: LogIncarnation, answers: readonly AnsweredTicket[]): Promise<readonly Ticket[]> {
    for (const { ticket, answer } of answers) {
      this.#answers.set(`${log}/${ticket.id}`, answer);
      this.#requests.delete(`${log}/${ticket.id}`);
    }
    return answers.map(({ ticket }) => ticket);
  }

  async readAnswer(log: LogIncarnation, { id }: Ticket): Promise<InboxAnswer | undefined> {
    return this.#answers.get(`${log}/${id}`);
  }
}
