/** A caller of an inbox store that copes with lost replies and refusals: everything is said again as it was. */
import { hasCode } from "../../lib/protocol/errors.ts";
import type { AnsweredTicket, InboxStore, Ticket } from "../../lib/protocol/log/inbox-store.ts";
import { untilAnswered } from "./contract.ts";
import { LostReply } from "./lost-replies.ts";

export function persistentInboxStore(store: InboxStore): InboxStore {
  const { sweep } = store;
  return {
    post: (log, request) => again(() => store.post(log, request)),
    requests: (log, query) => again(() => store.requests(log, query)),
    async answer(log, answers) {
      const put: Ticket[] = [];
      let left: readonly AnsweredTicket[] = answers;
      while (left.length > 0) {
        const now = await again(() => store.answer(log, left));
        put.push(...now);
        left = left.filter(({ ticket }) => !put.some(({ id }) => id === ticket.id));
      }
      return put;
    },
    readAnswer: (log, ticket, consistency) => again(() => store.readAnswer(log, ticket, consistency)),
    ...(sweep === undefined ? {} : { sweep: (beforeMs) => again(() => sweep.call(store, beforeMs)) }),
  };
}

/** What was refused for too much to do is tried again as well. */
function again<T>(call: () => Promise<T>): Promise<T> {
  return untilAnswered(async () => {
    try {
      return await call();
    } catch (error) {
      throw hasCode(error, "over_capacity") ? new LostReply(error.message) : error;
    }
  });
}
