/** What a reader may return, and when it may say that there is nothing yet (LR1 to LR5, rules 13, 14). */
import { describe, expect, test } from "vitest";
import { type EntryId, entryId } from "../../../lib/protocol/ids.ts";
import { markDeleted } from "../../../lib/protocol/ledger/end-ledger.ts";
import type { LedgerReader } from "../../../lib/protocol/ledger/ledger-reader.ts";
import { replaceEnsemble, startRecovery } from "../../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import {
  changeLedger,
  failure,
  members,
  sealed,
  sendMany,
  store,
  stored,
} from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

/** A world with entries that are in these bookies' slots, as the writer would have sealed them. */
async function placed(
  copies: Readonly<Record<number, string>>,
  fields: Parameters<typeof World.make>[0] = three,
): Promise<World> {
  const w = await World.make(fields);
  await w.writer();
  for (const [entry, names] of Object.entries(copies)) {
    for (const name of names.split(" ")) await store(w, name, sealed(w, { entry: Number(entry) }));
  }
  return w;
}

const local = async (w: World, reader: LedgerReader, entry: number) =>
  (await w.run(reader.read(entryId(entry), "local"))).kind;

describe("T1: at most a LAC that some entry carries", () => {
  test("one copy is enough, on whichever bookie is left", async () => {
    const w = await placed({ 0: "B0", 1: "B0" });
    await store(w, "B0", sealed(w, { entry: 2, lastAddConfirmed: 1 }));
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "T", target });
    const reader = w.reader();
    expect(await w.read(reader, 1)).toBe("e1");
    expect(await w.read(reader, 0)).toBe("e0");
    expect(reader.confirmed).toBe(1);
    expect(await w.read(reader, 2)).toBe("undecided");
  });

  test("a LAC in a damaged entry, or in another ledger's, confirms nothing", async () => {
    const w = await placed({ 0: "B0" });
    const good = sealed(w, { entry: 1, lastAddConfirmed: 0 });
    await store(w, "B0", { ...good, header: { ...good.header, lastAddConfirmed: entryId(9) } });
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "T", target });
    const reader = w.reader();
    expect(await w.run(reader.confirmedHint())).toBe(-1);
    expect(await w.read(reader, 0)).toBe("undecided");
  });
});

describe("T2: Originals on an ACK set, and the entry before is confirmed", () => {
  test("an entry on an ACK set behind one that is not is not returned", async () => {
    const w = await placed({ 0: "B0", 1: "B0 B1 B2" });
    const reader = w.reader();
    expect(await w.read(reader, 1)).toBe("nothing-yet");
    expect(reader.confirmed).toBe(-1);
    await store(w, "B2", sealed(w, { entry: 0 }));
    expect(await w.read(reader, 1)).toBe("e1");
    expect(reader.confirmed).toBe(1);
  });

  test("each entry from the last confirmed one on is read in its turn", async () => {
    const w = await placed({ 0: "B0 B1", 1: "B1 B2", 2: "B0 B2", 3: "B0 B1 B2" });
    expect(await w.read(w.reader(), 3)).toBe("e3");
    for (const entry of [0, 1, 2, 3]) {
      expect(w.faults.count({ port: "bookie", client: "T", call: "read", about: entry })).toBeGreaterThan(0);
    }
  });

  test("Recovered copies and Tombstones never count, however many", async () => {
    const w = await placed({ 0: "B0" });
    const copy = await stored(w, "B0", 0);
    for (const name of ["B1", "B2"]) await store(w, name, copy, "recovered");
    expect(await w.read(w.reader(), 0)).toBe("undecided");
    await store(w, "B2", copy);
    expect(await w.read(w.reader("T2"), 0)).toBe("e0");
  });

  test("Originals of two tenures do not add up (rule 20)", async () => {
    const w = await placed({ 0: "B0" });
    await store(w, "B1", sealed(w, { entry: 0, tenure: "another" }));
    expect(await w.read(w.reader(), 0)).toBe("undecided");
    await store(w, "B2", sealed(w, { entry: 0, tenure: "another" }));
    expect(await w.read(w.reader("T2"), 0)).toBe("e0");
  });

  test("damaged copies, and copies of another entry, do not count", async () => {
    const w = await placed({ 0: "B0" });
    const copy = await stored(w, "B0", 0);
    await store(w, "B1", { ...copy, digest: copy.digest.map((byte) => byte ^ 1) });
    const { ledgerId, entryId: id } = copy.header;
    const other = sealed(w, { entry: 5 });
    await w.store("B2").put({ kind: "slot", ledgerId, entryId: id }, { kind: "original", entry: other });
    expect(await w.read(w.reader(), 0)).toBe("undecided");
    expect(w.trace.flatMap((one) => (one.event === "corrupt-entry" ? [one.bookie] : [])).sort()).toEqual([
      "B1",
      "B2",
    ]);
  });

  test("an ACK set spans minRegions here too (S21)", async () => {
    const fields = { bookies: ["B0@a", "B1@b", "B2@a", "B3@b"], quorums: [4, 4, 2], minRegions: 2 } as const;
    const w = await placed({ 0: "B0 B2" }, fields);
    expect(await w.read(w.reader(), 0)).toBe("undecided"); // region b has nothing, and that is no proof
    await store(w, "B1", sealed(w, { entry: 0 }));
    expect(await w.read(w.reader("T2"), 0)).toBe("e0");
  });
});

describe("nothing yet (LR2, rule 14)", () => {
  test("needs NEG answers of nothing: 4/4/2 takes three", async () => {
    const w = await placed({ 0: "B0" }, { bookies: ["B0", "B1", "B2", "B3"], quorums: [4, 4, 2] });
    w.faults.fail({ client: "T", target: "B3" });
    expect(await w.read(w.reader("T"), 0)).toBe("undecided");
    expect(await w.read(w.reader("T2"), 0)).toBe("nothing-yet");
  });

  test("one consistent metadata read starts after the last slot answer that counts", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0");
    const reader = w.reader();
    await w.read(reader, 0);
    const slow = w.faults.hold({ client: "T", target: "B0", call: "read", about: 1 }, "after");
    const other = w.faults.hold({ client: "T", target: "B1", call: "read", about: 1 }, "after");
    const gets = () => w.faults.count({ client: "T", port: "metadata", call: "get" });
    const before = gets();
    const read = reader.read(entryId(1), "strong");
    await w.idle();
    expect(gets()).toBe(before); // B2 alone has said nothing
    slow.release();
    await w.idle();
    expect(gets()).toBe(before + 1);
    expect(await w.run(read)).toMatchObject({ kind: "nothing-yet", ledger: { item: { state: "OPEN" } } });
    other.release();
  });

  test("the version differs: what the slots said is discarded, asked again (S12)", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 2] });
    const writer = await w.writer();
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    for (const target of ["B0", "B2"]) w.faults.fail({ client: "W", target, call: "add" });
    await writer.add("e0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B4" });
    w.faults.hold({ client: "T", target: "B1" }); // the stale ensemble's other two have nothing
    expect(await w.read(reader, 0)).toBe("e0");
  });

  test("a metadata read that fails answers nothing", async () => {
    const w = await World.make(three);
    await w.writer();
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    w.faults.fail({ client: "T", port: "metadata" });
    expect(await failure(w.run(reader.read(entryId(0), "strong")))).toBe("unavailable");
  });

  test("metadata that changes under every round: undecided after a bounded number of them", async () => {
    const w = await World.make({
      bookies: Array.from({ length: 12 }, (_, i) => `B${i}`),
      quorums: [1, 1, 1],
    });
    await w.writer();
    let next = 1;
    w.faults.at({ client: "T", port: "metadata", call: "get" }, "before", 20, () =>
      changeLedger(w, (ledger) => {
        if (ledger.state !== "OPEN") throw new Error("not open");
        return replaceEnsemble(ledger, 0 as EntryId, members(w, `B${next++}`));
      }),
    );
    const read = await w.run(w.reader().read(entryId(0), "strong"));
    expect(read).toMatchObject({ kind: "undecided", error: { code: "not_ready", sideEffects: "none" } });
    expect(next).toBeLessThan(10);
  });

  test("a Tombstone sends the reader to the metadata: closed by then, it says the end", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("e0");
    await w.recover();
    expect(await w.read(reader, 1)).toBe("beyond-end");
    expect(reader.confirmed).toBe(0);
  });

  test("nothing in the slots of a ledger in recovery is no end yet: undecided, try again", async () => {
    const w = await World.make(three);
    await w.writer();
    await changeLedger(w, (ledger) => {
      if (ledger.state !== "OPEN") throw new Error("not open");
      return startRecovery(ledger);
    });
    const read = await w.run(w.reader().read(entryId(0), "strong"));
    expect(read).toMatchObject({ kind: "undecided", error: { code: "not_ready", retryable: true } });
  });
});

describe("undecided", () => {
  test("says which bookies and regions were silent, and has no side effects", async () => {
    const w = await placed({ 0: "B0" }, { ...three, bookies: ["B0@a", "B1@b", "B2@c"] });
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "T", target });
    const read = await w.run(w.reader().read(entryId(0), "strong"));
    expect(read).toMatchObject({
      kind: "undecided",
      error: {
        code: "insufficient_regions",
        sideEffects: "none",
        details: { answered_regions: ["a"], silent_regions: ["b", "c"] },
      },
    });
  });

  test("a bookie that hangs holds up neither an answer nor 'nothing yet'", async () => {
    const w = await placed({ 0: "B0 B1 B2" });
    w.faults.hold({ client: "T", target: "B2" });
    const before = w.clock.nowMs();
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("e0");
    expect(await w.read(reader, 1)).toBe("nothing-yet");
    expect(w.clock.nowMs()).toBe(before);
  });

  test("settled by an entry whose LAC covers it, it is confirmed by T1 (rule 14)", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B2", call: "add" });
    await writer.add("e0");
    w.faults.fail({ client: "T", target: "B1" });
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("undecided"); // on B0; nothing on B2; B1 is silent
    await writer.add("control entry");
    expect(await w.read(reader, 0)).toBe("e0");
  });
});

describe("confirmed never falls (LR3), and nothing is changed (LR5)", () => {
  test("every entry that was returned is returned again, whatever bookies are left", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await w.run(Promise.all(sendMany(writer, 0, 6)));
    const reader = w.reader();
    for (let entry = 0; entry < 6; entry++) expect(await w.read(reader, entry)).toBe(`e${entry}`);
    for (const left of ["B0", "B1", "B2"]) {
      const ends = three.bookies
        .filter((name) => name !== left)
        .map((target) => w.faults.fail({ client: "T", target }));
      for (let entry = 5; entry >= 0; entry--) expect(await w.read(reader, entry)).toBe(`e${entry}`);
      expect(reader.confirmed).toBe(5);
      for (const end of ends) end();
    }
  });

  test("no store and no metadata write comes from a reader, strong or local", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1");
    const reader = w.reader();
    for (const entry of [0, 1, 2, 7]) {
      await w.read(reader, entry);
      await local(w, reader, entry);
    }
    await w.run(reader.confirmedHint());
    await w.recover();
    await w.read(w.reader(), 2);
    const calls = w.faults.log.filter((call) => call.client === "T");
    const changing = calls.filter(({ call }) => !["get", "read", "tail", "list"].includes(call));
    expect([calls.length > 20, changing]).toEqual([true, []]);
    expect(await writer.add("e2")).toMatch(/^fenced/);
  });
});

describe("old metadata (LR4, rule 15)", () => {
  test("is read again before anything is answered from it", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0", "e1");
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("e0");
    const gets = () => w.faults.count({ client: "T", port: "metadata", call: "get" });
    const before = gets();
    expect(await w.read(reader, 0)).toBe("e0");
    expect(gets()).toBe(before);
    await w.clock.advance(limits.metadataAgeMaxMs);
    expect(await w.read(reader, 0)).toBe("e0");
    expect(gets()).toBe(before + 1);
    await w.clock.advance(limits.metadataAgeMaxMs);
    w.faults.fail({ client: "T", port: "metadata" });
    expect(await failure(w.run(reader.read(entryId(0), "strong")))).toBe("unavailable");
  });

  test("a reader frozen before its reply reads again, and finds the ledger deleted", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0", "e1");
    const reader = w.reader();
    expect(await w.read(reader, 1)).toBe("e1");
    const slow = w.faults.hold({ client: "T", port: "bookie", call: "read" }, "after");
    w.clock.startTimer(1, () => undefined);
    const read = reader.read(entryId(0), "strong");
    await w.idle();
    await w.recover();
    await w.run(markDeleted(w.ports("D"), w.theLedger()));
    // The process stands still for a day: its timers fire late, the answer is there when it wakes.
    w.clock.monotonicMs = () => 0;
    w.clock.nowMs = () => 1_800_000_000_000 + 2 * limits.metadataAgeMaxMs;
    slow.release();
    expect((await w.run(read)).kind).toBe("deleted");
  });
});

describe("local reads", () => {
  test("go up to the LAC that bookies know, ask no metadata about the tail, and may lag", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2");
    const reader = w.reader();
    expect(await local(w, reader, 1)).toBe("entry");
    const gets = w.faults.count({ client: "T", port: "metadata", call: "get" });
    expect(await local(w, reader, 2)).toBe("unknown-tail");
    expect(await local(w, reader, 9)).toBe("unknown-tail");
    expect(w.faults.count({ client: "T", port: "metadata", call: "get" })).toBe(gets);
    await writer.add("e3");
    expect(await local(w, reader, 2)).toBe("entry");
  });

  test("with every bookie silent: unknown tail, and undecided for what was confirmed before", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0", "e1");
    const reader = w.reader();
    expect(await local(w, reader, 0)).toBe("entry");
    w.faults.fail({ client: "T", port: "bookie" });
    expect(await local(w, reader, 1)).toBe("unknown-tail");
    expect(await local(w, reader, 0)).toBe("undecided");
  });
});

describe("other states", () => {
  test("closed: any copy up to the end, nothing behind it, and the hint is the end", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0", "e1");
    await w.recover();
    const reader = w.reader();
    expect(await w.run(reader.confirmedHint())).toBe(1);
    expect(await w.run(reader.read(entryId(2), "strong"))).toEqual({ kind: "beyond-end", lastEntry: 1 });
    expect([await local(w, reader, 1), await local(w, reader, 2)]).toEqual(["entry", "beyond-end"]);
  });

  test("deleted and missing are said so, and are no hint", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0");
    await w.recover();
    await w.run(markDeleted(w.ports("D"), w.theLedger()));
    expect(await w.read(w.reader(), 0)).toBe("deleted");
    expect(await w.run(w.reader().confirmedHint())).toBe(-1);
    const { key, version } = (await w.metadata.get(
      { partition: `ledger#${w.theLedger()}`, sort: "ledger" },
      "consistent",
    )) ?? { key: undefined };
    if (key !== undefined) await w.metadata.remove(key, version);
    expect(await w.read(w.reader(), 0)).toBe("missing");
    expect(await w.run(w.reader().confirmedHint())).toBe(-1);
  });
});
