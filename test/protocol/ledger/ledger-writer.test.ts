/** The writer's ordinary life: adds go out in a bounded window, acknowledged in order (LGW1, LGW2, rule 5). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { bookieId } from "../../../lib/protocol/ids.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { LedgerWriter } from "../../../lib/protocol/ledger/ledger-writer.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { SealedEntry } from "../../../lib/protocol/ports.ts";
import { acknowledged, isSettled, sendMany, slots, stored } from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;
const upTo = (count: number) => Array.from({ length: count }, (_, entry) => entry);

describe("acknowledgement", () => {
  test("adds are pipelined: each is sent before the one before it is acknowledged", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const held = w.faults.hold({ client: "W", call: "add" });
    const adds = sendMany(writer, 0, 10);
    await w.idle();
    expect(held.calls.length).toBe(30);
    expect(writer.writer.lastAddPushed).toBe(9);
    expect(acknowledged(w)).toEqual([]);
    held.release();
    expect(await w.run(Promise.all(adds))).toEqual(upTo(10).map((entry) => `acknowledged ${entry}`));
  });

  test("in entry-id order, in whatever order the bookies answer (LGW2)", async () => {
    const answers = upTo(5).flatMap((entry) => three.bookies.map((target) => ({ target, entry })));
    const anyOrder = fc.shuffledSubarray(answers, { minLength: answers.length });
    await fc.assert(
      fc.asyncProperty(anyOrder, async (order) => {
        const w = await World.make(three);
        const writer = await w.writer();
        const held = order.map(({ target, entry }) =>
          w.faults.hold({ client: "W", target, call: "add", about: entry }, "after"),
        );
        const adds = sendMany(writer, 0, 5);
        await w.idle();
        const heard = new Map<number, number>();
        for (const [index, { entry }] of order.entries()) {
          held[index]?.release();
          await w.idle();
          heard.set(entry, (heard.get(entry) ?? 0) + 1);
          // Exactly the entries before which every one has its two answers.
          const complete = upTo(5).findIndex((one) => (heard.get(one) ?? 0) < 2);
          expect(acknowledged(w)).toEqual(upTo(complete < 0 ? 5 : complete));
        }
        await w.run(Promise.all(adds));
      }),
      { seed: 5, numRuns: 30 },
    );
  });

  test("on Qa answers; the late one changes nothing, and its failure neither", async () => {
    const w = await World.make({ ...three, bookies: ["B0", "B1", "B2", "B3"] });
    const writer = await w.writer();
    const late = w.faults.hold({ client: "W", target: "B2", call: "add", about: 0 });
    expect(await writer.add("e0")).toBe("acknowledged 0");
    late.release();
    const lost = w.faults.hold({ client: "W", target: "B2", call: "add", about: 1 });
    expect(await writer.add("e1")).toBe("acknowledged 1");
    lost.lose();
    await w.clock.advance(10_000);
    expect(acknowledged(w)).toEqual([0, 1]);
    expect(await slots(w, 0, "B0 B1 B2")).toBe("original original original");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
  });

  test("demands minRegions: two bookies of one region are no ACK set", async () => {
    const w = await World.make({
      bookies: ["A0@a", "A1@a", "B0@b"],
      quorums: [3, 3, 2],
      minRegions: 2,
    });
    const writer = await w.writer();
    const far = w.faults.hold({ client: "W", target: "B0", call: "add" });
    const add = writer.writer.add(new Uint8Array([1]));
    await w.idle();
    expect(await slots(w, 0, "A0 A1 B0")).toBe("original original nothing");
    expect(await isSettled(w, add)).toBe(false);
    far.release();
    expect(await w.run(add)).toEqual({ entryId: 0, regions: ["a", "b"] });
  });

  test.each([
    [[3, 3, 2], 1],
    [[4, 4, 2], 2],
    [[5, 5, 3], 2],
    [[5, 3, 2], 1],
  ] as const)(
    "%j tolerates %i failed bookies without an ensemble change (rule 6)",
    async (quorums, failures) => {
      const bookies = upTo(8).map((index) => `B${index}`);
      const w = await World.make({ bookies, quorums });
      const writer = await w.writer();
      for (const target of bookies.slice(0, failures)) w.faults.fail({ client: "W", target, call: "add" });
      const outcomes = await w.run(Promise.all(sendMany(writer, 0, 20)));
      expect(outcomes).toEqual(upTo(20).map((entry) => `acknowledged ${entry}`));
      await w.clock.advance(10_000);
      expect(writer.writer.fragmentCount).toBe(1);
      expect(w.faults.count({ client: "W", port: "metadata", call: "write" })).toBe(1);
      // One more, and the ensemble changes.
      w.faults.fail({ client: "W", target: `B${failures}`, call: "add" });
      expect(await w.run(Promise.all(sendMany(writer, 20, 10)))).toContain("acknowledged 29");
      expect(await w.ensembles()).not.toEqual({ 0: bookies.slice(0, quorums[0]).join(" ") });
    },
  );

  test("a lost message is no failure: the same bookie is asked again", async () => {
    const w = await World.make({ bookies: ["B0"], quorums: [1, 1, 1] });
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", call: "add" }, "before", 1);
    expect(await writer.add("e0")).toBe("acknowledged 0");
    w.faults.fail({ client: "W", target: "B0", call: "add" }, "after", 1); // stored: the slot holds our own
    expect(await writer.add("e1")).toBe("acknowledged 1");
    w.faults.hold({ client: "W", target: "B0", call: "add" }, "before", 1); // no answer at all
    const before = w.clock.nowMs();
    expect(await writer.add("e2")).toBe("acknowledged 2");
    expect(w.clock.nowMs() - before).toBe(limits.bookieCallTimeoutMs + limits.bookieCallPauseMs);
    expect(w.trace.map((event) => event.event)).not.toContain("bookie-failed");
  });

  test("names its suspects, and clears one that answers again", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const end = w.faults.fail({ client: "W", target: "B1", call: "add" });
    await writer.add("e0");
    await w.clock.advance(100);
    expect([...writer.writer.suspects]).toEqual(["B1"]);
    end();
    await writer.add("e1");
    expect([...writer.writer.suspects]).toEqual([]);
  });
});

describe("entries", () => {
  test("the LAC field is at most the last acknowledged; the length adds up (rule 5)", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("a", "bb");
    const held = w.faults.hold({ client: "W", call: "add" });
    const adds = sendMany(writer, 2, 3);
    await w.idle();
    held.release();
    await w.run(Promise.all(adds));
    await writer.add("ccc");
    const headers = [];
    for (const entry of upTo(6)) headers.push((await stored(w, "B0", entry)).header);
    expect(headers.map((header) => header.lastAddConfirmed)).toEqual([-1, 0, 1, 1, 1, 4]);
    expect(headers.map((header) => header.length)).toEqual([1, 3, 5, 7, 9, 12]);
    expect(new Set(headers.map((header) => header.tenure))).toEqual(new Set([writer.writer.tenure]));
    expect(writer.writer.length).toBe(12);
  });

  test("are encoded once: bookies, second tries and copies get the same object (LGW1)", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    const ports = w.ports("W");
    const sent: SealedEntry[] = [];
    const recording = {
      bookie: (id: ReturnType<typeof bookieId>) => {
        const bookie = ports.bookies.bookie(id);
        const add = (entry: SealedEntry) => {
          sent.push(entry);
          return bookie.add(entry);
        };
        return { ...bookie, add };
      },
    };
    const ledger = await w.run(createLedger(ports, { replication: w.replication, digest: w.digest }));
    const writer = new LedgerWriter({ ...ports, bookies: recording }, ledger);
    w.faults.fail({ client: "W", target: "B1", call: "add" }, "before", 1); // a second try
    w.faults.fail({ client: "W", target: "B2", call: "add" }); // a copy to B3
    await w.run(writer.add(new Uint8Array([7])));
    expect(sent.length).toBeGreaterThanOrEqual(6);
    expect(new Set(sent).size).toBe(1);
  });

  test("two writers never share a tenure (rule 20)", async () => {
    const w = await World.make(three);
    const one = await w.writer();
    const other = await w.writer();
    expect(one.writer.tenure).not.toBe(other.writer.tenure);
  });

  test.each([
    ["encoded from no text", new TextEncoder().encode("")],
    ["made empty", new Uint8Array(0)],
    ["a slice of something", new Uint8Array(8).subarray(8)],
  ])("an empty payload, %s, is an entry like any other", async (_, payload) => {
    const w = await World.make(three);
    const writer = await w.writer();
    expect(await w.run(writer.writer.add(payload))).toMatchObject({ entryId: 0 });
    expect(await w.read(w.reader(), 0)).toBe("");
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0, length: 0 });
  });

  test("one that is too long is refused before anything is sent", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const payload = new Uint8Array(limits.entryPayloadBytesMax + 1);
    expect(() => writer.writer.add(payload)).toThrow(/an entry of \d+ bytes is too long/);
    expect(writer.writer.lastAddPushed).toBe(-1);
  });
});

describe("the window", () => {
  test("holds at most so many adds; the next goes out as one is acknowledged", async () => {
    const w = await World.make({ bookies: ["B0"], quorums: [1, 1, 1] });
    const writer = await w.writer();
    const first = w.faults.hold({ client: "W", call: "add", about: 0 });
    const rest = w.faults.hold({ client: "W", call: "add" });
    const adds = sendMany(writer, 0, limits.pendingAddsMax + 10);
    await w.idle();
    expect(writer.writer.lastAddPushed).toBe(limits.pendingAddsMax - 1);
    expect(first.calls.length + rest.calls.length).toBe(limits.pendingAddsMax);
    first.release();
    await w.idle();
    expect(writer.writer.lastAddPushed).toBe(limits.pendingAddsMax - 1); // its own answer is held as well
    rest.release();
    expect((await w.run(Promise.all(adds))).at(-1)).toBe(`acknowledged ${limits.pendingAddsMax + 9}`);
  });

  test("moves by exactly what was acknowledged", async () => {
    const w = await World.make({ bookies: ["B0"], quorums: [1, 1, 1] });
    const writer = await w.writer();
    const count = limits.pendingAddsMax + 10;
    const held = upTo(count).map((about) => w.faults.hold({ client: "W", call: "add", about }, "after"));
    void sendMany(writer, 0, count);
    await w.idle();
    for (const [index, one] of held.slice(0, 5).entries()) {
      one.release();
      await w.idle();
      expect(acknowledged(w)).toEqual(upTo(index + 1));
      expect(writer.writer.lastAddPushed).toBe(limits.pendingAddsMax + index);
    }
  });

  test("holds at most so many payload bytes", async () => {
    const w = await World.make({ bookies: ["B0"], quorums: [1, 1, 1] });
    const writer = await w.writer();
    w.faults.hold({ client: "W", call: "add" });
    const payload = new Uint8Array(2 * 1024 * 1024);
    const fits = limits.pendingBytesMax / payload.length;
    expect(fits).toBe(16);
    for (let entry = 0; entry < fits + 5; entry++) void writer.writer.add(payload);
    await w.idle();
    expect(writer.writer.lastAddPushed).toBe(fits - 1);
    void writer.writer.add(new Uint8Array(1)); // a small one does not overtake
    await w.idle();
    expect(writer.writer.lastAddPushed).toBe(fits - 1);
  });
});
