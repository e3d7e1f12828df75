/** Each contract catches each of the ways in which its port can be wrong, and lets the true one pass. */
import { describe, expect, it, vi } from "vitest";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryLeaseStore } from "../../lib/adapters/memory/memory-lease-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { NodeDigest } from "../../lib/adapters/node/node-digest.ts";
import {
  StoredBookie,
  type StoredBookieFields,
  setUpStorage,
} from "../../lib/protocol/bookie/stored-bookie.ts";
import type { Clock } from "../../lib/protocol/deadline.ts";
import { bookieId } from "../../lib/protocol/ids.ts";
import type { Bookie, EntryStore } from "../../lib/protocol/ports.ts";
import { CPU_BOUND } from "../cpu-bound.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { SeededRandom } from "../sim/seeded-random.ts";
import { type BookieUnderTest, bookieCases } from "./bookie-contract.ts";
import { brokenBookies } from "./broken-bookies.ts";
import { brokenInboxes, inboxInMemory } from "./broken-inboxes.ts";
import { brokenClocks, brokenDigests, brokenRandoms } from "./broken-node-ports.ts";
import { brokenEntryStores, brokenLeaseStores, brokenMetadataStores } from "./broken-stores.ts";
import { type ClockUnderTest, clockCases } from "./clock-contract.ts";
import { digestCases } from "./digest-contract.ts";
import { entryStoreCases } from "./entry-store-contract.ts";
import { inboxStoreCases } from "./inbox-store-contract.ts";
import { leaseStoreCases } from "./lease-store-contract.ts";
import { metadataStoreCases } from "./metadata-store-contract.ts";
import { randomCases } from "./random-contract.ts";
import { Scope } from "./scope.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

interface Case<P> {
  readonly title: string;
  readonly run: (port: P, scope: Scope) => unknown;
}

/** Titles of the cases that do not pass over a port made for each. */
async function failures<P>(
  cases: readonly Case<P>[],
  make: () => P | Promise<P>,
  stopAtFirst: boolean,
): Promise<string[]> {
  const failed: string[] = [];
  for (const one of cases) {
    try {
      await one.run(await make(), new Scope());
    } catch {
      failed.push(one.title);
      if (stopAtFirst) break;
    }
  }
  return failed;
}

function describeSelfTest<P>(
  name: string,
  cases: readonly Case<P>[],
  whole: () => P | Promise<P>,
  broken: Readonly<Record<string, () => P | Promise<P>>>,
): void {
  describe(`the ${name} contract`, () => {
    it("lets a port pass that is right", async () => {
      expect(await failures(cases, whole, false)).toEqual([]);
    });
    it.each(Object.entries(broken))("catches: %s", async (_wrong, make) => {
      expect(await failures(cases, make, true)).not.toEqual([]);
    });
  });
}

describeSelfTest("entry store", entryStoreCases, () => new MemoryEntryStore(), brokenEntryStores);
describeSelfTest("metadata store", metadataStoreCases, () => new MemoryMetadataStore(), brokenMetadataStores);
describeSelfTest("lease store", leaseStoreCases, () => new MemoryLeaseStore(), brokenLeaseStores);
describeSelfTest("inbox store", inboxStoreCases, () => inboxInMemory(), brokenInboxes);

async function bookieOver(make: (fields: StoredBookieFields) => Bookie): Promise<BookieUnderTest> {
  const [clock, store, storage] = [new TestClock(), new MemoryEntryStore(), "s1"];
  await setUpStorage(store, storage);
  const another = (wrap = (inner: EntryStore) => inner) =>
    make({ id: bookieId("us-east-1.b1~s1"), storage, store: wrap(store), clock });
  return { bookie: another(), another, store, storage, isInMemory: true, advance: (ms) => clock.advance(ms) };
}

describeSelfTest(
  "bookie",
  bookieCases,
  () => bookieOver((fields) => new StoredBookie(fields)),
  Object.fromEntries(Object.entries(brokenBookies).map(([wrong, make]) => [wrong, () => bookieOver(make)])),
);

function movedByHand(clock: TestClock, port: Clock = clock): ClockUnderTest {
  return { clock: port, advance: (ms) => clock.advance(ms) };
}

describeSelfTest(
  "clock",
  clockCases,
  () => movedByHand(new TestClock()),
  Object.fromEntries(
    Object.entries(brokenClocks).map(([wrong, make]) => [
      wrong,
      () => {
        const clock = new TestClock();
        return movedByHand(clock, make(clock));
      },
    ]),
  ),
);
describeSelfTest("random", randomCases, () => new SeededRandom(1, "self-test"), brokenRandoms);
describeSelfTest("digest", digestCases, () => new NodeDigest(), brokenDigests);
