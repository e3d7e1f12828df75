/** Requests: found whole, in order, above a revision, in pages; of one log, birth and tenure (rules 36, 37). */
import { expect } from "vitest";
import type { LogIncarnation } from "../../lib/protocol/ids.ts";
import { newLeaseBirth } from "../../lib/protocol/ids.ts";
import { limits } from "../../lib/protocol/limits.ts";
import type {
  InboxPage,
  InboxQuery,
  InboxRequest,
  InboxStore,
  PostedAppend,
  Ticket,
} from "../../lib/protocol/log/inbox-store.ts";
import type { ContractCase } from "./contract.ts";
import type { InboxUnderTest } from "./inbox-store-contract.ts";
import { bytesOf, samplePosts, sampleRequest, sampleTicket, withId } from "./sample-posts.ts";

export const requestCases: readonly ContractCase<InboxUnderTest>[] = [
  {
    title: "requests come back as they were posted; where none was posted there are none",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const [first, none] = [sampleTicket(scope), sampleTicket(scope)];
      const posted = samplePosts.map((append, index) => ({
        ticket: sampleTicket(scope, index + 1, first),
        append,
      }));
      for (const request of posted) await store.post(log, request);
      expect(await all(store, log, first)).toEqual({ requests: posted, damaged: [], isWhole: true });
      expect(await all(store, log, none)).toEqual({ requests: [], damaged: [], isWhole: true });
    },
  },
  {
    title: "they come by revision, then by id, whatever the order of the posts",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const tickets = [2, 9, 10, 99, 2 ** 32, 2 ** 53 - 1].flatMap((revision) =>
        ["0", "a1", "a10", "a2"].map((id) => withId({ ...first, revision }, id)),
      );
      // Seven divides none of the counts used.
      const mixed = tickets.map((_, index) => tickets[(index * 7) % tickets.length] ?? first);
      for (const ticket of mixed) await store.post(log, sampleRequest(ticket));
      expect(ticketsOf(await all(store, log, first))).toEqual(tickets);
    },
  },
  {
    title: "only tickets above the revision come",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope, 9);
      const tickets = [9, 10, 11, 100].map((revision) => ({ ...first, revision }));
      for (const ticket of tickets) await store.post(log, sampleRequest(ticket));
      for (const [above, count] of [
        [0, 4],
        [8, 4],
        [9, 3],
        [10, 2],
        [99, 1],
        [100, 0],
        [2 ** 53 - 1, 0],
      ] as const) {
        const page = await all(store, log, first, { above });
        expect(ticketsOf(page)).toEqual(tickets.slice(tickets.length - count));
        expect(page.isWhole).toBe(true);
      }
    },
  },
  {
    title: "a page has at most so many requests, and says whether anything lies beyond",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const tickets = [1, 2, 3, 4].map((revision) => sampleTicket(scope, revision, first));
      for (const ticket of tickets) await store.post(log, sampleRequest(ticket));
      for (const requestsMax of [1, 2, 3, 4, 5]) {
        const page = await all(store, log, first, { requestsMax });
        expect(ticketsOf(page)).toEqual(tickets.slice(0, requestsMax));
        expect(page.isWhole).toBe(requestsMax >= 4);
      }
    },
  },
  {
    title: "a page has at most so many metered bytes, and one request whatever its size",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      // Metered, 8 bytes more; the third is larger than what a store may keep in one place with others.
      const sizes = [92, 92, 4_992, 92];
      const requests = sizes.map((size, index) => sampleRequest(sampleTicket(scope, index + 1, first), size));
      for (const request of requests) await store.post(log, request);
      for (const [bytesMax, count] of [
        [1, 1],
        [199, 1],
        [200, 2],
        [5_199, 2],
        [5_200, 3],
        [5_300, 4],
      ] as const) {
        const page = await all(store, log, first, { bytesMax });
        expect(page.requests).toEqual(requests.slice(0, count));
        expect(page.isWhole).toBe(count === 4);
      }
      const behind = await all(store, log, first, { above: 2, bytesMax: 1 });
      expect(behind.requests).toEqual(requests.slice(2, 3));
    },
  },
  {
    title: "the largest batches come whole, beside small ones",
    heavy: true,
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const bytes = limits.batchBytesMax - 8;
      const header = [Uint8Array.of(0xff), Uint8Array.of()] as const;
      const many = Array.from({ length: limits.batchRecordsMax }, (_, index) => ({
        body: bytesOf(index % 700),
        headers: Array.from({ length: index % 5 }, () => header),
      }));
      const requests: InboxRequest[] = [
        sampleRequest(sampleTicket(scope, 1, first)),
        {
          ticket: sampleTicket(scope, 2, first),
          append: { records: [{ body: bytesOf(bytes), headers: [] }] },
        },
        { ticket: sampleTicket(scope, 3, first), append: { records: many } },
        sampleRequest(sampleTicket(scope, 4, first), 1_600),
        sampleRequest(sampleTicket(scope, 5, first)),
      ];
      for (const request of requests) await store.post(log, request);
      const page = await all(store, log, first, { bytesMax: 2 ** 24 });
      expect(ticketsOf(page)).toEqual(requests.map(({ ticket }) => ticket));
      // As one text: megabytes are not compared element by element.
      const same = page.requests.map(({ append }, index) => {
        const posted = requests[index]?.append;
        return posted !== undefined && textOf(append) === textOf(posted);
      });
      expect(same).toEqual(requests.map(() => true));
    },
  },
  {
    title: "damaged requests are named, and keep no other one waiting",
    run: async ({ store, damage }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const requests = [1, 2, 3, 4, 5].map((revision) =>
        sampleRequest(sampleTicket(scope, revision, first), revision === 4 ? 9_000 : 10),
      );
      for (const request of requests) await store.post(log, request);
      const [one, two, three, four, five] = requests as [
        InboxRequest,
        InboxRequest,
        InboxRequest,
        InboxRequest,
        InboxRequest,
      ];
      await damage(log, one.ticket);
      await damage(log, four.ticket);
      expect(await all(store, log, first, { requestsMax: 3 })).toEqual({
        requests: [two, three, five],
        damaged: [one.ticket, four.ticket],
        isWhole: true,
      });
      const page = await all(store, log, first, { requestsMax: 1 });
      expect(page.requests).toEqual([two]);
      expect(page.damaged).toContainEqual(one.ticket);
      expect(page.isWhole).toBe(false);
    },
  },
  {
    title: "other logs, births and tenures are apart, though ids and revisions are the same",
    run: async ({ store }, scope) => {
      const [log, other] = [scope.log(), scope.log()];
      const ticket = sampleTicket(scope, 5);
      const apart: readonly (readonly [LogIncarnation, Ticket])[] = [
        [log, ticket],
        [other, ticket],
        [log, { ...ticket, birth: newLeaseBirth(scope.random) }],
        [log, { ...ticket, tenure: scope.tenure() }],
        // Names that run into one another where they are only joined.
        [log, { ...ticket, birth: "a" as never, tenure: "b#c" as never }],
        [log, { ...ticket, birth: "a#b" as never, tenure: "c" as never }],
        [log, { ...ticket, birth: "a%0023b" as never, tenure: "c" as never }],
      ];
      for (const [index, [of, one]] of apart.entries()) await store.post(of, sampleRequest(one, index));
      for (const [index, [of, one]] of apart.entries()) {
        expect((await all(store, of, one)).requests).toEqual([sampleRequest(one, index)]);
      }
    },
  },
  {
    title: "ids of any characters are apart",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const ids = ["", "a", "a#", "#a", "%", "%0023", "\u0000", "é", "😀", "\ud800", "a/b", ":", "~"];
      const requests = ids.map((id, index) => sampleRequest(withId(first, id), index));
      for (const request of requests) await store.post(log, request);
      const { requests: found } = await all(store, log, first);
      expect(found).toHaveLength(ids.length);
      expect(found).toEqual(expect.arrayContaining(requests));
    },
  },
  {
    title: "the same post again changes nothing, and what was given or got shares nothing with the store",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const given = sampleRequest(sampleTicket(scope));
      const expected = structuredClone(given);
      await store.post(log, given);
      await store.post(log, structuredClone(given));
      given.append.records[0]?.body.fill(7);
      const { requests } = await all(store, log, given.ticket);
      expect(requests).toEqual([expected]);
      requests[0]?.append.records[0]?.body.fill(9);
      expect((await all(store, log, given.ticket)).requests).toEqual([expected]);
    },
  },
  {
    title: "of posts that are made at once each is found",
    run: async ({ store }, scope) => {
      const log = scope.log();
      const first = sampleTicket(scope);
      const tickets = Array.from({ length: 40 }, () => sampleTicket(scope, 3, first));
      await Promise.all(tickets.map((ticket) => store.post(log, sampleRequest(ticket))));
      const found = ticketsOf(await all(store, log, first));
      expect(found.map(({ id }) => id)).toEqual(tickets.map(({ id }) => id).sort());
    },
  },
];

/** Everything of the ticket's birth and tenure, unless `query` says less. */
export function all(
  store: InboxStore,
  log: LogIncarnation,
  { birth, tenure }: Ticket,
  query: Partial<InboxQuery> = {},
): Promise<InboxPage> {
  return store.requests(log, { birth, tenure, above: 0, requestsMax: 1_000, bytesMax: 2 ** 26, ...query });
}

export function ticketsOf({ requests }: InboxPage): readonly Ticket[] {
  return requests.map(({ ticket }) => ticket);
}

function textOf(append: PostedAppend): string {
  return JSON.stringify(append, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
}
