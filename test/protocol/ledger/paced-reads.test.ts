/**
 * Tails through the read policy: as many bookies as could prove an answer, once it is known how long answers
 * take; polls that go round; hedges of one batch in one message.
 */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { LedgerReader } from "../../../lib/protocol/ledger/ledger-reader.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { ackSetFirst } from "../../../lib/protocol/replication.ts";
import { World, type WorldFields } from "../../scenarios/world.ts";
import { bookieAt, nameOf } from "../reads/reading-world.ts";

const ENTRIES = 30;

/** Entries 0 to 29 written; a reader that has read all but the last, so that it knows its bookies. */
async function experienced(fields: WorldFields, where = "r") {
  const w = await World.make(fields);
  const writer = await w.writer();
  for (let entry = 0; entry < ENTRIES; entry++) await writer.add(`e${entry}`);
  const ledgerId = w.ledgerId;
  if (ledgerId === undefined) throw new Error("no ledger");
  const ports = w.ports("T", where);
  const reader = new LedgerReader(ports, ledgerId);
  await w.run(reader.confirmedHint());
  for (let entry = 0; entry < ENTRIES - 1; entry++) await w.run(reader.read(entryId(entry), "strong"));
  const asked = (target: string, about: number) =>
    w.faults.count({ client: "T", target, port: "bookie", call: "read", about });
  return { w, writer, ports, reader, asked };
}

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;
const names = ["B0", "B1", "B2"];

describe("a strong tail", () => {
  test("asks as many as could prove an answer, and no more", async () => {
    const { w, reader, asked } = await experienced(three);
    expect(await w.run(reader.read(entryId(ENTRIES - 1), "strong"))).toMatchObject({ kind: "entry" });
    expect(names.reduce((sum, name) => sum + asked(name, ENTRIES - 1), 0)).toBe(2);
    expect(await w.run(reader.read(entryId(ENTRIES), "strong"))).toMatchObject({ kind: "nothing-yet" });
    expect(names.reduce((sum, name) => sum + asked(name, ENTRIES), 0)).toBe(2);
  });

  test("polled again and again it asks all of them in turn", async () => {
    const { w, reader, asked } = await experienced(three);
    await w.run(reader.read(entryId(ENTRIES - 1), "strong"));
    for (let poll = 0; poll < 60; poll++) await w.run(reader.read(entryId(ENTRIES), "strong"));
    for (const name of names) expect(asked(name, ENTRIES), name).toBeGreaterThan(20);
  });

  test("asks the third when one refuses: absence is never decided on fewer than NEG answers", async () => {
    const { w, reader, asked } = await experienced(three);
    await w.run(reader.read(entryId(ENTRIES - 1), "strong"));
    for (let poll = 0; poll < 20; poll++) {
      const mend = w.faults.fail({ client: "T", target: "B1", call: "read" });
      expect(await w.run(reader.read(entryId(ENTRIES), "strong"))).toMatchObject({ kind: "nothing-yet" });
      mend();
    }
    expect(asked("B0", ENTRIES)).toBe(20);
    expect(asked("B2", ENTRIES)).toBe(20);
  });

  test("two that hang of three prove nothing, however long it waits", async () => {
    const { w, reader } = await experienced(three);
    await w.run(reader.read(entryId(ENTRIES - 1), "strong"));
    for (const target of ["B0", "B1"]) w.faults.hold({ client: "T", target });
    expect(await w.run(reader.read(entryId(ENTRIES), "strong"))).toMatchObject({ kind: "undecided" });
  });

  test("a hanging bookie costs one silence, not a time-out", async () => {
    const { w, reader } = await experienced(three);
    await w.run(reader.read(entryId(ENTRIES - 1), "strong"));
    w.faults.hold({ client: "T", target: "B0" });
    const beganMs = w.clock.nowMs();
    for (let poll = 0; poll < 3; poll++) {
      expect(await w.run(reader.read(entryId(ENTRIES), "strong"))).toMatchObject({ kind: "nothing-yet" });
    }
    expect(w.clock.nowMs() - beganMs).toBeLessThanOrEqual(3 * readLimits.silenceMaxMs);
  });
});

test("tail polls ask one bookie each, and go round the ensemble", async () => {
  const { w, reader } = await experienced(three);
  const tails = (target: string) => w.faults.count({ client: "T", target, port: "bookie", call: "tail" });
  const before = names.map(tails);
  for (let poll = 0; poll < 90; poll++) await w.run(reader.confirmedHint());
  const each = names.map((name, index) => tails(name) - (before[index] ?? 0));
  expect(each.reduce((sum, count) => sum + count, 0)).toBe(90);
  for (const count of each) expect(count).toBeGreaterThan(15);
});

test("a poll whose bookie is down asks the next one", async () => {
  const { w, reader } = await experienced(three);
  for (const target of ["B0", "B1"]) w.faults.fail({ client: "T", target });
  expect(await w.run(reader.confirmedHint())).toBe(ENTRIES - 2);
});

test("hedges of a batch to one bookie go out as one message", async () => {
  const { w, ports, reader } = await experienced({ bookies: ["B0", "B1"], quorums: [2, 2, 1] });
  while (ports.reads.hedgeBudget.tokens < 8) ports.reads.hedgeBudget.earn();
  w.faults.hold({ client: "T", target: "B0", call: "read" });
  const batch = Array.from({ length: 8 }, (_, entry) => reader.read(entryId(entry), "strong"));
  const found = await w.run(Promise.all(batch));
  expect(found.every(({ kind }) => kind === "entry")).toBe(true);
  const { hedges } = ports.reads.counters;
  expect(hedges).toBeGreaterThan(2);
  expect(w.faults.count({ client: "T", target: "B1", port: "bookie", call: "readSeveral" })).toBe(1);
});

describe("ackSetFirst", () => {
  const [a1, a2, b1, c1] = ["/a/1", "/a/2", "/b/1", "/c/1"].map((place) => bookieAt(place.slice(1), place));
  const replication = { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 3 };

  test("keeps the last places for the regions that are missing", () => {
    if (!a1 || !a2 || !b1 || !c1) throw new Error("four bookies");
    expect(ackSetFirst([a1, a2, b1, c1], replication).map(nameOf)).toEqual(["a/1", "b/1", "c/1", "a/2"]);
    const two = { ...replication, minRegions: 2 };
    expect(ackSetFirst([a1, a2, b1, c1], two).map(nameOf)).toEqual(["a/1", "a/2", "b/1", "c/1"]);
  });

  test("loses and doubles nobody where there are too few regions", () => {
    if (!a1 || !a2) throw new Error("two bookies");
    expect(ackSetFirst([a2, a1], replication).map(nameOf)).toEqual(["a/2", "a/1"]);
  });
});
