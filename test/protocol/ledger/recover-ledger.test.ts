/** Recovery over long tails and random ones: a legal end, and all up to it is held (rules 10 to 12). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EntryId, entryId, type LedgerId } from "../../../lib/protocol/ids.ts";
import {
  fragmentAt,
  type LedgerMetadata,
  lastFragment,
  replaceEnsemble,
} from "../../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { type BookieAddress, isAckSet, provesAbsence, writeSet } from "../../../lib/protocol/replication.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { changeLedger, endOf, members, sealed, slots, store } from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

/** A ledger with unacknowledged entries 0 .. count-1 on every bookie of their write sets. */
async function unacknowledged(count: number, fields: Parameters<typeof World.make>[0]): Promise<World> {
  const w = await World.make(fields);
  const writer = await w.writer();
  const held = w.faults.hold({ client: "W", call: "add" }, "after");
  for (let entry = 0; entry < count; entry++) void writer.send(`e${entry}`);
  await w.idle();
  expect(held.calls.length).toBe(count * w.replication.writeQuorum);
  return w;
}

const reads = (w: World, target: string) =>
  w.faults.log
    .filter((one) => one.port === "bookie" && one.call === "recoveryRead" && one.target === target)
    .map((one) => Number(one.about));

describe("long tails", () => {
  test.each([
    [[3, 3, 2], 1],
    [[3, 3, 2], 16],
    [[3, 3, 2], 120],
    [[5, 3, 2], 130],
    [[4, 2, 2], 200],
  ] as const)(
    "%j with %i unacknowledged entries: all are kept, each is read once",
    async (quorums, count) => {
      const bookies = Array.from({ length: quorums[0] }, (_, index) => `B${index}`);
      const w = await unacknowledged(count, { bookies, quorums });
      expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: count - 1 });
      for (const target of bookies) {
        const asked = reads(w, target);
        expect(new Set(asked).size).toBe(asked.length);
        // Read ahead by one window at most.
        expect(Math.max(...asked)).toBeLessThan(count + limits.recoveryReadWindow);
      }
      const reader = w.reader();
      for (let entry = 0; entry < count; entry += 7) expect(await w.read(reader, entry)).toBe(`e${entry}`);
      expect(await w.read(reader, count)).toBe("beyond-end");
    },
  );

  test("windows start small; one is read when the one before is written back", async () => {
    const w = await unacknowledged(100, three);
    const blocked = w.faults.hold({ client: "R", call: "recoveryAdd" });
    const recovery = w.recovery();
    await w.idle();
    expect(new Set(reads(w, "B0")).size).toBe(limits.recoveryReadWindowFirst);
    const written = new Set(blocked.calls.map((call) => call.about));
    expect(written.size).toBe(limits.recoveryReadWindowFirst);
    blocked.release();
    expect(await w.run(recovery)).toMatchObject({ lastEntry: 99 });
  });

  test("a bookie that hangs costs time-outs for the hints, and not one wait for each entry", async () => {
    const w = await unacknowledged(120, { ...three, bookies: ["B0", "B1", "B2", "B3"] });
    w.faults.hold({ client: "R", target: "B2" });
    const before = w.clock.nowMs();
    expect(await w.recover()).toMatchObject({ lastEntry: 119 });
    const windows = Math.ceil(120 / limits.recoveryReadWindow) + 2;
    const patience = limits.bookieCallAttempts * (limits.bookieCallTimeoutMs + limits.bookieCallPauseMs);
    expect(w.clock.nowMs() - before).toBeLessThanOrEqual(windows * patience);
  });

  test("a bookie dies in the middle: what follows is on its replacement, the rest stays", async () => {
    const w = await unacknowledged(100, { bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    for (let entry = 50; entry < 120; entry++) {
      w.faults.fail({ client: "R", target: "B1", call: "recoveryAdd", about: entry });
    }
    const closed = await w.recover();
    expect(endOf(closed)).toBe(99);
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 50: "B0 B3 B2" });
    expect(await slots(w, 49, "B0 B1 B2 B3")).toBe("original original original nothing");
    expect(await slots(w, 50, "B0 B3 B2")).toBe("original recovered original");
    expect(await slots(w, 99, "B0 B3 B2")).toBe("original recovered original");
  });

  test("a good LAC hint skips what is acknowledged; a low one costs reading and nothing else", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    for (let entry = 0; entry < 40; entry++) await writer.add(`e${entry}`);
    expect(await w.recover()).toMatchObject({ lastEntry: 39 });
    expect(Math.min(...reads(w, "B0"))).toBe(39);

    const low = await World.make(three);
    const other = await low.writer();
    for (let entry = 0; entry < 40; entry++) await other.add(`e${entry}`);
    low.faults.fail({ client: "R", call: "fence" });
    expect(await low.recover()).toMatchObject({ lastEntry: 39 });
    expect(Math.min(...reads(low, "B0"))).toBe(0);
  });

  test("the length is that of the last entry, also when recovery did not read it itself", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [2, 2, 2] });
    const writer = await w.writer();
    await writer.add("four", "fives");
    await changeLedger(w, (ledger) => {
      if (ledger.state !== "OPEN") throw new Error("not open");
      return replaceEnsemble(ledger, 2 as EntryId, members(w, "B2 B3"));
    });
    expect(await w.recover()).toMatchObject({ lastEntry: 1, length: 9 });
  });
});

test("a copy moved to another region: an entry that a reader was given stays (rules 6b, 11)", async () => {
  const bookies = ["E0@east", "S0@south", "S1@south", "E1@east", "S2@south"];
  const w = await World.make({ bookies, quorums: [4, 4, 2], minRegions: 2 });
  const writer = await w.writer();
  // e0 is on S0, and on E0 without a reply; E1 and S1 are out of reach.
  w.faults.fail({ client: "W", target: "E0", call: "add" }, "after");
  for (const target of ["S1", "E1"]) w.faults.fail({ client: "W", target, call: "add" });
  const persist = w.faults.hold({ client: "W", port: "metadata", call: "write" });
  const e0 = writer.send("e0");
  await w.clock.advance(100);
  expect(await slots(w, 0, "E0 S0 S1 E1 S2")).toBe("original original nothing nothing original");
  expect(await w.read(w.reader(), 0)).toBe("e0"); // Originals in two regions: an ACK set
  const told = w.faults.hold({ client: "W", port: "metadata", call: "write" }, "after");
  persist.release();
  await w.idle();
  // E0's place went to S2: both copies that count are in the south now, where two are no ACK set.
  expect(await w.ensembles()).toEqual({ 0: "S2 S0 S1 E1" });
  const slow = ["S0", "S2"].map((target) => w.faults.hold({ client: "R", target, call: "recoveryRead" }));
  const recovery = w.recovery();
  await w.idle();
  expect((await w.ledger()).state).toBe("IN_RECOVERY"); // two negatives of four do not end it
  for (const held of slow) held.release();
  expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  told.release();
  expect(await w.run(e0)).toMatch(/side effects possible$/);
  expect(await w.read(w.reader("T2"), 0)).toBe("e0");
});

interface Tail {
  /** For each entry of the tail, which bookies of its write set have it (bits). */
  readonly copies: readonly number[];
  /** A bookie that does not answer this recovery, or none. */
  readonly silent: number;
  readonly quorums: readonly [number, number, number];
  readonly recoverers: number;
}

const anyTail: fc.Arbitrary<Tail> = fc
  .constantFrom<[number, number, number]>(
    [3, 3, 2],
    [4, 3, 2],
    [5, 3, 2],
    [4, 4, 2],
    [4, 4, 3],
    [2, 2, 1],
    [3, 2, 2],
  )
  .chain((quorums) =>
    fc.record({
      copies: fc.array(fc.integer({ min: 0, max: 2 ** quorums[1] - 1 }), { maxLength: 24 }),
      silent: fc.integer({ min: -1, max: quorums[0] - 1 }),
      quorums: fc.constant(quorums),
      recoverers: fc.integer({ min: 1, max: 3 }),
    }),
  );

interface Placed {
  readonly w: World;
  readonly ledger: LedgerMetadata;
  /** The bookies that had each entry before recovery began. */
  readonly had: readonly (readonly BookieAddress[])[];
}

async function place(tail: Tail): Promise<Placed> {
  const bookies = Array.from({ length: tail.quorums[0] + 4 }, (_, index) => `B${index}`);
  const w = await World.make({ bookies, quorums: tail.quorums });
  await w.writer();
  const ledger = await w.ledger();
  const had: BookieAddress[][] = [];
  for (const [entry, bits] of tail.copies.entries()) {
    const set = writeSet(entryId(entry), lastFragment(ledger), ledger.replication);
    const holders = set.filter((_, index) => (bits >> index) & 1);
    for (const holder of holders) await store(w, holder.id, sealed(w, { entry }));
    had.push(holders);
  }
  return { w, ledger, had };
}

async function holdersNow(w: World, ledger: LedgerMetadata, entry: number): Promise<BookieAddress[]> {
  const set = writeSet(entryId(entry), fragmentAt(ledger, entryId(entry)), ledger.replication);
  const holders: BookieAddress[] = [];
  for (const member of set) {
    if (["original", "recovered"].includes(await w.slot(member.id, entry))) holders.push(member);
  }
  return holders;
}

describe("random tails", () => {
  test("the end is legal and everybody's; each entry up to it is on an ACK set", EXHAUSTIVE, async () => {
    let closedOnes = 0;
    await fc.assert(
      fc.asyncProperty(anyTail, async (tail) => {
        const { w, ledger, had } = await place(tail);
        if (tail.silent >= 0) w.faults.fail({ target: `B${tail.silent}`, port: "bookie" });
        const recoveries = Array.from({ length: tail.recoverers }, (_, index) => w.recovery(`R${index}`));
        const results = await w.run(Promise.allSettled(recoveries));
        const ends = results.flatMap((one) => (one.status === "fulfilled" ? [endOf(one.value)] : []));
        const now = await w.ledger();
        if (now.state !== "CLOSED") {
          expect([now.state, ends]).toEqual(["IN_RECOVERY", []]);
          expect(tail.silent).toBeGreaterThanOrEqual(0); // with everybody there, there is always an end
          return;
        }
        closedOnes += 1;
        expect(new Set(ends)).toEqual(new Set([now.lastEntry]));
        await checkEnd({ w, ledger, had }, now.lastEntry, tail.silent);
      }),
      { seed: 11, numRuns: 200 },
    );
    expect(closedOnes).toBeGreaterThan(100);
  });

  async function checkEnd({ w, ledger, had }: Placed, end: number, silent: number): Promise<void> {
    const { replication } = ledger;
    const now = await w.ledger();
    // Whatever was on an ACK set may have been acknowledged, so it is in, with all before it.
    const acked = had.findIndex((holders) => !isAckSet(holders, replication));
    expect(end).toBeGreaterThanOrEqual((acked < 0 ? had.length : acked) - 1);
    for (let entry = 0; entry <= end; entry++) {
      expect(had[entry]?.length, `entry ${entry}`).toBeGreaterThan(0);
      expect(isAckSet(await holdersNow(w, now, entry), replication), `entry ${entry}`).toBe(true);
    }
    // The slot behind the end can never be acknowledged: enough bookies had nothing, and have Tombstones now.
    const next = entryId(end + 1);
    const set = writeSet(next, lastFragment(ledger), replication);
    const negatives: BookieAddress[] = [];
    for (const member of set) {
      if (String(member.id) === `B${silent}`) continue;
      const missing = !(had[end + 1] ?? []).includes(member);
      if (missing && (await w.slot(member.id, end + 1)) !== "original") negatives.push(member);
    }
    expect(provesAbsence(negatives, set, replication)).toBe(true);
  }

  test("a missing ledger is nothing to recover", async () => {
    const w = await World.make(three);
    await w.writer();
    w.ledgerId = (w.theLedger() + 1) as LedgerId;
    expect(await w.recover()).toBeUndefined();
    expect(w.faults.count({ port: "bookie" })).toBe(0);
  });

  test("a closed ledger is adopted without asking any bookie", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0");
    const first = await w.recover("R1");
    const before = w.faults.count({ client: "R2", port: "bookie" });
    expect(await w.recover("R2")).toEqual(first);
    expect(w.faults.count({ client: "R2", port: "bookie" })).toBe(before);
  });
});
