/** Cards H71 to H79: what readers may say of the tail, of moved copies and of damaged ones (rules 13, 14). */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { readAnyCopy } from "../../../lib/protocol/ledger/read-slots.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { textOf, World } from "../world.ts";
import { changeLedger, damaged, fragment, isSettled, slots, store, stored } from "./meddling.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

describe("H73: the last entry of an idle ledger", () => {
  test("H73 (rule 13): a strong reader returns it; a local one lags by one", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2", "e3", "e4");
    const local = w.reader("local");
    const readLocal = async (entry: number) => (await w.run(local.read(entryId(entry), "local"))).kind;
    expect(await w.run(local.confirmedHint())).toBe(3);
    expect([await readLocal(3), await readLocal(4)]).toEqual(["entry", "unknown-tail"]);
    expect(await w.read(w.reader(), 4)).toBe("e4");
    await writer.add("e5");
    expect(await readLocal(4)).toBe("entry");
    await w.run(writer.writer.close());
    const later = w.reader("later");
    expect((await w.run(later.read(entryId(5), "local"))).kind).toBe("entry");
  });

  test("H71 (rule 13): what one strong reader returned, another returns after restarts", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0", "e1");
    expect(await w.read(w.reader("T"), 1)).toBe("e1");
    expect(await w.read(w.reader("T'"), 1)).toBe("e1"); // each call meets a process without memory
    expect(await w.recover()).toMatchObject({ lastEntry: 1 });
    expect(await w.read(w.reader("T''"), 1)).toBe("e1");
  });
});

describe("H74: an entry that is not acknowledged", () => {
  test("H74 (rules 13, 14): e4 on B2 only: no read returns it, and recovery may end at 3", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2", "e3");
    for (const target of ["B0", "B1"]) w.faults.hold({ client: "W", target, call: "add", about: 4 });
    void writer.send("e4");
    await w.idle();
    expect(await slots(w, 4, "B0 B1 B2")).toBe("nothing nothing original");
    for (const name of ["T1", "T2"]) expect(await w.read(w.reader(name), 4)).toBe("nothing-yet");
    expect((await w.run(w.reader("T3").read(entryId(4), "local"))).kind).toBe("unknown-tail");
    w.faults.fail({ client: "T4", target: "B0" });
    expect(await w.read(w.reader("T4"), 4)).toBe("undecided"); // one copy, one nothing, one silence
    w.faults.hold({ client: "R", target: "B2", call: "recoveryRead" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 3 });
    expect(await w.read(w.reader("T5"), 4)).toBe("beyond-end");
  });
});

describe("H75: copies moved after the reader learnt where they are", () => {
  test("H75 (rule 14): both bookies of a closed ledger were replaced: metadata is read again", async () => {
    const w = await World.make({ bookies: ["A", "B", "C", "D"], quorums: [2, 2, 2] });
    await (await w.writer()).add("e0", "e1");
    await w.recover();
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("e0");
    for (const [from, to, names] of [
      ["A", "C", "C B"],
      ["B", "D", "C D"],
    ] as const) {
      await store(w, to, await stored(w, from, 1), "recovered");
      await changeLedger(w, (ledger) => ({ ...ledger, fragments: [fragment(w, 0, names)] }));
      const { ledgerId } = await w.ledger();
      await w.store(from).delete({ kind: "slot", ledgerId, entryId: entryId(1) });
    }
    expect(await slots(w, 1, "A B C D")).toBe("nothing nothing recovered recovered");
    expect(await w.read(reader, 1)).toBe("e1");
    expect(w.faults.count({ client: "T", port: "metadata", call: "get" })).toBe(2);
  });

  test("H75 (rules 13, 14): an open ledger whose first ensemble was replaced whole", async () => {
    const w = await World.make({ bookies: ["A", "B", "C", "D"], quorums: [2, 2, 2] });
    const writer = await w.writer();
    const reader = w.reader();
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    for (const target of ["A", "B"]) w.faults.fail({ client: "W", target, call: "add" });
    await writer.add("e0", "e1");
    expect(await w.ensembles()).toEqual({ 0: "C D" });
    expect(await w.read(reader, 0)).toBe("e0");
    expect(await w.read(reader, 1)).toBe("e1");
  });

  test("H75 (rule 21): no copy anywhere, metadata fresh: undecided, never 'no entry'", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0");
    await w.recover();
    w.faults.fail({ client: "T", call: "read" });
    expect(await w.read(w.reader(), 0)).toBe("undecided");
  });
});

describe("H78: damaged and late answers to a read", () => {
  async function anyCopy(prepare: (w: World) => Promise<void> | void) {
    const w = await World.make(three);
    await (await w.writer()).add("e0");
    await prepare(w);
    const ledger = await w.ledger();
    const entry = entryId(0);
    return { w, read: readAnyCopy(w.ports("T"), ledger, entry) };
  }

  test("H78 (rules 5, 13): two damaged copies are passed over, the third answers", async () => {
    const { w, read } = await anyCopy(async (world) => {
      for (const name of ["B0", "B1"]) await store(world, name, damaged(await stored(world, name, 0)));
      // Whichever is asked first, the good copy comes last.
      const last = world.faults.hold({ client: "T", target: "B2", call: "read" });
      void world.clock.startTimer(limits.readNextReplicaAfterMs * 3, () => last.release());
    });
    const copy = await w.run(read);
    expect(copy.kind === "entry" && textOf(copy.entry)).toBe("e0");
    const corrupt = w.trace.flatMap((event) => (event.event === "corrupt-entry" ? [event.bookie] : []));
    expect(corrupt.sort()).toEqual(["B0", "B1"]);
  });

  test("H78 (rules 5, 13): all damaged: each is named, none is returned", async () => {
    const { w, read } = await anyCopy(async (world) => {
      for (const name of three.bookies) await store(world, name, damaged(await stored(world, name, 0)));
    });
    const copy = await w.run(read);
    expect(copy).toMatchObject({ kind: "none" });
    const verdicts = copy.kind === "none" ? copy.verdicts : [];
    expect(verdicts).toHaveLength(3);
    for (const one of verdicts) expect(one).toMatchObject({ kind: "answered", said: "has a damaged copy" });
  });

  test("H78 (rule 13): nothing that comes after the answer starts another request", async () => {
    const { w, read } = await anyCopy(() => undefined);
    const asked = () => w.faults.log.filter((call) => call.client === "T" && call.port === "bookie");
    const first = asked()[0]?.target ?? "";
    expect(first).not.toBe("");
    expect((await w.run(read)).kind).toBe("entry");
    await w.clock.advance(10_000);
    expect(asked().length).toBe(1);
  });

  test("H78 (rule 13): the first is silent, the second answers; a late error is nothing", async () => {
    let silent: { lose(): void } | undefined;
    const { w, read } = await anyCopy((world) => {
      silent = world.faults.hold({ client: "T", call: "read" }, "before", 1);
    });
    const before = w.clock.nowMs();
    expect((await w.run(read)).kind).toBe("entry");
    expect(w.clock.nowMs() - before).toBeLessThan(limits.bookieCallTimeoutMs);
    silent?.lose();
    await w.clock.advance(10_000);
    expect(w.faults.count({ client: "T", port: "bookie", call: "read" })).toBe(2);
    expect(w.clock.pendingTimers).toBe(0);
  });

  test("H78 (rule 13): the answer to a retry counts though the first try was still open", async () => {
    const w = await World.make(three);
    await (await w.writer()).add("e0");
    const reader = w.reader();
    const held = w.faults.hold({ client: "T", call: "read" }, "before", 2);
    const read = reader.read(entryId(0), "strong");
    await w.idle();
    expect(await isSettled(w, read)).toBe(false);
    held.release();
    expect(await w.run(read)).toMatchObject({ kind: "entry" });
  });
});

test("H79 (rule 13): a reader heard LAC 8 from B0, then 5 from B1: its own does not fall", async () => {
  const w = await World.make({ bookies: ["B0", "B1"], quorums: [2, 2, 1] });
  const writer = await w.writer();
  for (let entry = 0; entry < 7; entry++) await writer.add(`e${entry}`);
  w.faults.fail({ client: "W", target: "B1", call: "add" });
  for (let entry = 7; entry < 10; entry++) await writer.add(`e${entry}`);

  const reader = w.reader();
  const down = w.faults.fail({ client: "T", target: "B1", call: "tail" });
  expect(await w.run(reader.confirmedHint())).toBe(8);
  down();
  w.faults.fail({ client: "T", target: "B0", call: "tail" });
  expect(await w.run(reader.confirmedHint())).toBe(8);
  expect(reader.confirmed).toBe(8);
  expect(await w.read(reader, 8)).toBe("e8");
  // A reader that only ever hears B1 is behind, and never wrong.
  const behind = w.reader("behind");
  w.faults.fail({ client: "behind", target: "B0" });
  expect(await w.run(behind.confirmedHint())).toBe(5);
});
