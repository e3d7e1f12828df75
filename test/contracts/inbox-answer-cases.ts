/** Answers: found by their tickets, put before their requests go, kept until they are old (rules 38 to 41). */
import { expect } from "vitest";
import type { LogIncarnation } from "../../lib/protocol/ids.ts";
import { newLeaseBirth } from "../../lib/protocol/ids.ts";
import type { InboxAnswer, Ticket } from "../../lib/protocol/log/inbox-store.ts";
import type { ContractCase } from "./contract.ts";
import { all, ticketsOf } from "./inbox-request-cases.ts";
import type { InboxUnderTest } from "./inbox-store-contract.ts";
import { sampleAnswers, sampleRequest, sampleTicket, shownAnswer } from "./sample-posts.ts";

const NOT_SERVED: InboxAnswer = { kind: "not-served" };
const DAY_MS = 24 * 60 * 60_000;

export const answerCases: readonly ContractCase<InboxUnderTest>[] = [
  {
    title: "answers of every kind come back as they were put; where none was put there is none",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const answers = sampleAnswers.map((answer) => ({ ticket: sampleTicket(scope), answer }));
      for (const { ticket } of answers) {
        expect(await store.readAnswer(log, ticket, "consistent")).toBeUndefined();
      }
      expect(ids(await store.answer(log, answers))).toEqual(ids(answers.map(({ ticket }) => ticket)));
      for (const { ticket, answer } of answers) {
        expect(shownAnswer(await store.readAnswer(log, ticket, "consistent"))).toEqual(shownAnswer(answer));
        const stale = await store.readAnswer(log, ticket, "stale");
        if (stale !== undefined) expect(shownAnswer(stale)).toEqual(shownAnswer(answer));
      }
    },
  },
  {
    title: "an answer says nothing of where the batch is durable, though the holder gives that as well",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const ticket = sampleTicket(scope);
      const [recorded] = sampleAnswers;
      if (recorded?.kind !== "recorded") throw new Error("the first sample is recorded");
      const ack = { ...recorded.ack, durableIn: ["us-east-1" as never] };
      await store.answer(log, [{ ticket, answer: { kind: "recorded", ack } }]);
      expect(await store.readAnswer(log, ticket, "consistent")).toEqual(recorded);
    },
  },
  {
    title: "an answer is its ticket's alone: not another log's, birth's, tenure's, revision's or id's",
    run: async ({ store }, scope) => {
      const [log, other] = [scope.log(), scope.log()];
      const ticket = sampleTicket(scope, 5);
      await store.answer(log, [{ ticket, answer: NOT_SERVED }]);
      const apart: readonly (readonly [LogIncarnation, Ticket])[] = [
        [other, ticket],
        [log, { ...ticket, birth: newLeaseBirth(scope.random) }],
        [log, { ...ticket, tenure: scope.tenure() }],
        [log, { ...ticket, revision: 6 }],
        [log, sampleTicket(scope, 5, ticket)],
      ];
      for (const [of, one] of apart) {
        expect(await store.readAnswer(of, one, "consistent")).toBeUndefined();
      }
      expect(await store.readAnswer(log, ticket, "consistent")).toEqual(NOT_SERVED);
    },
  },
  {
    title: "rule 41: the requests of answered tickets go, small and large, and no others",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const tickets = [1, 2, 3, 4].map((revision) => sampleTicket(scope, revision, first));
      const [one, two, three, four] = tickets as [Ticket, Ticket, Ticket, Ticket];
      for (const ticket of tickets) await store.post(log, sampleRequest(ticket, ticket === two ? 5_000 : 10));
      // The same id and revision in another log, or under another birth, is another request.
      const twin = { ...one, birth: newLeaseBirth(scope.random) };
      const other = scope.log();
      await store.post(log, sampleRequest(twin));
      await store.post(other, sampleRequest(one));
      await store.answer(log, [
        { ticket: one, answer: NOT_SERVED },
        { ticket: two, answer: NOT_SERVED },
      ]);
      expect(ticketsOf(await all(store, log, first))).toEqual([three, four]);
      expect(ticketsOf(await all(store, log, twin))).toEqual([twin]);
      expect(ticketsOf(await all(store, other, one))).toEqual([one]);
    },
  },
  {
    title: "many answers in one call, one of them twice, and some without a request",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const tickets = Array.from({ length: 60 }, () => sampleTicket(scope, 2, first));
      const posted = tickets.filter((_, index) => index % 2 === 0);
      await Promise.all(posted.map((ticket) => store.post(log, sampleRequest(ticket))));
      const answers = [...tickets, first, first].map((ticket) => ({ ticket, answer: NOT_SERVED }));
      const put = await store.answer(log, answers);
      expect(new Set(ids(put))).toEqual(new Set(ids([...tickets, first])));
      for (const ticket of [...tickets, first]) {
        expect(await store.readAnswer(log, ticket, "consistent")).toEqual(NOT_SERVED);
      }
      expect(await all(store, log, first)).toEqual({ requests: [], damaged: [], isWhole: true });
      expect(await store.answer(log, [])).toEqual([]);
    },
  },
  {
    title: "a late post brings its request back, whole, and takes nothing from its answer; it goes again",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const ticket = sampleTicket(scope);
      for (const size of [10, 6_000]) {
        const request = sampleRequest({ ...ticket, revision: size }, size);
        await store.post(log, request);
        for (let round = 0; round < 2; round++) {
          await store.answer(log, [{ ticket: request.ticket, answer: NOT_SERVED }]);
          expect((await all(store, log, ticket)).requests).toEqual([]);
          await store.post(log, request);
          expect((await all(store, log, ticket)).requests).toEqual([request]);
          expect(await store.readAnswer(log, request.ticket, "consistent")).toEqual(NOT_SERVED);
        }
        await store.answer(log, [{ ticket: request.ticket, answer: NOT_SERVED }]);
      }
    },
  },
  {
    title: "rule 41: a sweep removes what is old, requests and answers, and nothing younger",
    fresh: true,
    run: async ({ store, nowMs, advance }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const [asked, answered, again] = [1, 2, 3].map((revision) => sampleTicket(scope, revision, first));
      if (asked === undefined || answered === undefined || again === undefined) return;
      for (const ticket of [asked, answered, again]) await store.post(log, sampleRequest(ticket));
      await store.answer(log, [{ ticket: answered, answer: NOT_SERVED }]);
      await advance(DAY_MS);
      const dayMs = nowMs();
      const [askedLater, answeredLater] = [4, 5].map((revision) => sampleTicket(scope, revision, first));
      if (askedLater === undefined || answeredLater === undefined) return;
      await store.post(log, sampleRequest(askedLater));
      await store.post(log, sampleRequest(again));
      await store.answer(log, [{ ticket: answeredLater, answer: NOT_SERVED }]);
      if (store.sweep === undefined) return;
      while ((await store.sweep(dayMs)) > 0);
      expect(ticketsOf(await all(store, log, first))).toEqual([again, askedLater]);
      expect(await store.readAnswer(log, answered, "consistent")).toBeUndefined();
      expect(await store.readAnswer(log, answeredLater, "consistent")).toEqual(NOT_SERVED);
      expect(await store.sweep(dayMs)).toBe(0);
      await advance(1);
      while ((await store.sweep(nowMs())) > 0);
      expect(ticketsOf(await all(store, log, first))).toEqual([]);
      expect(await store.readAnswer(log, answeredLater, "consistent")).toBeUndefined();
    },
  },
];

const ids = (tickets: readonly Ticket[]): readonly string[] => tickets.map(({ id }) => id);
