/** Inboxes in memory that break their contract, each in one way. */
import { MemoryInboxStore } from "../../lib/adapters/memory/memory-inbox-store.ts";
import { newLeaseBirth } from "../../lib/protocol/ids.ts";
import type { AnsweredTicket, InboxAnswer, InboxStore, Ticket } from "../../lib/protocol/log/inbox-store.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { SeededRandom } from "../sim/seeded-random.ts";
import { altered, type Broken } from "./broken-stores.ts";
import type { InboxUnderTest } from "./inbox-store-contract.ts";

/** `change`: what is wrong with the store, given the one that is right. */
export function inboxInMemory(
  change: (whole: MemoryInboxStore) => InboxStore = (whole) => whole,
): InboxUnderTest {
  const clock = new TestClock();
  const whole = new MemoryInboxStore(clock);
  return {
    store: change(whole),
    damage: async (log, ticket) => whole.damage(log, ticket),
    nowMs: () => clock.nowMs(),
    advance: (ms) => clock.advance(ms),
  };
}

/** One in place of the other in every ticket that the store is given. */
function confusing(whole: MemoryInboxStore, confused: (ticket: Ticket) => Ticket): Partial<InboxStore> {
  const swapped = (answers: readonly AnsweredTicket[]) =>
    answers.map(({ ticket, answer }) => ({ ticket: confused(ticket), answer }));
  return {
    async answer(log, answers) {
      // Requests go under their own names.
      await whole.answer(log, answers);
      await whole.answer(log, swapped(answers));
      return answers.map(({ ticket }) => ticket);
    },
    readAnswer: (log, ticket) => whole.readAnswer(log, confused(ticket)),
  };
}

const broken: Readonly<Record<string, (whole: MemoryInboxStore) => Partial<InboxStore>>> = {
  "posts are acknowledged before they take effect": (whole) => ({
    async post(log, request) {
      setImmediate(() => void whole.post(log, request));
    },
  }),
  "answers are acknowledged before they take effect": (whole) => ({
    async answer(log, answers) {
      setImmediate(() => void whole.answer(log, answers));
      return answers.map(({ ticket }) => ticket);
    },
  }),
  "an answered ticket cannot be posted again": (whole) => ({
    async post(log, request) {
      if ((await whole.readAnswer(log, request.ticket)) === undefined) await whole.post(log, request);
    },
  }),
  "headers are read as text": (whole) => ({
    post: (log, { ticket, append }) =>
      whole.post(log, {
        ticket,
        append: {
          ...append,
          records: append.records.map((record) => ({
            ...record,
            headers: record.headers.map(([name, value]) => [throughText(name), throughText(value)] as const),
          })),
        },
      }),
  }),
  "a sender is dropped": (whole) => ({
    post: (log, { ticket, append: { sender: _, ...append } }) => whole.post(log, { ticket, append }),
  }),
  "revisions are compared as text": (whole) => ({
    async requests(log, query) {
      const page = await whole.requests(log, query);
      const key = ({ revision, id }: Ticket) => `${revision}#${id}`;
      const requests = [...page.requests].sort((one, other) =>
        key(one.ticket) < key(other.ticket) ? -1 : 1,
      );
      return { ...page, requests };
    },
  }),
  "tickets of the revision itself come, too": (whole) => ({
    requests: (log, query) => whole.requests(log, { ...query, above: Math.max(0, query.above - 1) }),
  }),
  "the birth is not looked at": (whole) => {
    const birth = newLeaseBirth(new SeededRandom(1, "birth"));
    return {
      post: (log, { ticket, append }) => whole.post(log, { ticket: { ...ticket, birth }, append }),
      requests: (log, query) => whole.requests(log, { ...query, birth }),
      answer: async (log, answers) => {
        await whole.answer(log, answers);
        await whole.answer(
          log,
          answers.map(({ ticket, answer }) => ({ ticket: { ...ticket, birth }, answer })),
        );
        return answers.map(({ ticket }) => ticket);
      },
    };
  },
  "a full page says that it is whole": (whole) => ({
    requests: async (log, query) => ({ ...(await whole.requests(log, query)), isWhole: true }),
  }),
  "a page that is exactly full says that more lies beyond": (whole) => ({
    async requests(log, query) {
      const page = await whole.requests(log, query);
      return { ...page, isWhole: page.isWhole && page.requests.length < query.requestsMax };
    },
  }),
  "bytes are not counted": (whole) => ({
    requests: (log, query) => whole.requests(log, { ...query, bytesMax: Number.MAX_SAFE_INTEGER }),
  }),
  "a request that is too large never comes": (whole) => ({
    async requests(log, query) {
      const page = await whole.requests(log, query);
      const [first] = page.requests;
      const size = first?.append.records.reduce((sum, { body }) => sum + body.length, 0) ?? 0;
      return size > query.bytesMax ? { ...page, requests: [] } : page;
    },
  }),
  "damage ends the page": (whole) => ({
    async requests(log, query) {
      const page = await whole.requests(log, query);
      if (page.damaged.length > 0) throw new Error("damaged");
      return page;
    },
  }),
  "damage is passed over in silence": (whole) => ({
    requests: async (log, query) => ({ ...(await whole.requests(log, query)), damaged: [] }),
  }),
  "answers stay with their requests": (whole) => ({
    async answer(log, answers) {
      const requests = await Promise.all(
        answers.map(({ ticket }) =>
          whole.requests(log, { ...ticket, above: 0, requestsMax: 99, bytesMax: 1e9 }),
        ),
      );
      const put = await whole.answer(log, answers);
      for (const one of requests.flatMap((page) => page.requests)) await whole.post(log, one);
      return put;
    },
  }),
  "an answer removes every request of its tenure": (whole) => ({
    async answer(log, answers) {
      for (const { ticket } of answers) {
        const all = await whole.requests(log, { ...ticket, above: 0, requestsMax: 99, bytesMax: 1e9 });
        await whole.answer(log, all.requests.map(notServed));
      }
      return await whole.answer(log, answers);
    },
  }),
  "only the first answers of a call are put": (whole) => ({
    answer: (log, answers) => whole.answer(log, answers.slice(0, 25)),
  }),
  "requests go, and their answers are not put": (whole) => ({
    async readAnswer(log, ticket) {
      const answer = await whole.readAnswer(log, ticket);
      return answer?.kind === "not-served" ? undefined : answer;
    },
  }),
  "an answer is found by its id alone": (whole) =>
    confusing(whole, (ticket) => ({ ...ticket, birth: "b" as never, tenure: "t" as never, revision: 1 })),
  "an answer is found by birth and tenure": (whole) =>
    confusing(whole, (ticket) => ({ ...ticket, id: "id" as never })),
  "what a refusal says of its effects is lost": (whole) => ({
    async readAnswer(log, ticket) {
      const answer = await whole.readAnswer(log, ticket);
      return answer?.kind === "refused" ? withoutEffects(answer) : answer;
    },
  }),
  "a refusal that rules out is one like any other": (whole) => ({
    async readAnswer(log, ticket) {
      const answer = await whole.readAnswer(log, ticket);
      return answer?.kind === "refused" ? { kind: "refused", error: answer.error } : answer;
    },
  }),
  "a sweep removes what is young": (whole) => ({ sweep: () => whole.sweep(Number.MAX_SAFE_INTEGER) }),
  "a sweep removes nothing": () => ({ sweep: async () => 0 }),
};

export const brokenInboxes: Broken<InboxUnderTest> = Object.fromEntries(
  Object.entries(broken).map(([wrong, methods]) => [
    wrong,
    () => inboxInMemory((whole) => altered<InboxStore>(whole, methods(whole))),
  ]),
);

const notServed = ({ ticket }: { readonly ticket: Ticket }): AnsweredTicket => ({
  ticket,
  answer: { kind: "not-served" },
});

function throughText(bytes: Uint8Array): Uint8Array {
  return new TextEncoder().encode(new TextDecoder().decode(bytes));
}

function withoutEffects(answer: Extract<InboxAnswer, { kind: "refused" }>): InboxAnswer {
  const error = Object.assign(Object.create(Object.getPrototypeOf(answer.error)), answer.error, {
    message: answer.error.message,
    sideEffects: "possible",
  });
  return { ...answer, error };
}
