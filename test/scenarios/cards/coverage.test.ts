/** Cards H15 to H23: what the answers to a fence prove, and from where recovery reads on. */
import { describe, expect, test } from "vitest";
import type { EntryId } from "../../../lib/protocol/ids.ts";
import { replaceEnsemble } from "../../../lib/protocol/ledger-metadata.ts";
import { coversEveryWriteSet, writeSetPositions } from "../../../lib/protocol/replication.ts";
import { World } from "../world.ts";
import { subsets } from "./every-order.ts";
import { changeLedger, damaged, failure, isSettled, members, sealed, store, stored } from "./meddling.ts";

/** All E <= 6 with all Qw <= E and Qa <= Qw. */
const quorums = Array.from({ length: 6 }, (_, e) => e + 1).flatMap((ensembleSize) =>
  Array.from({ length: ensembleSize }, (_, qw) => qw + 1).flatMap((writeQuorum) =>
    Array.from({ length: writeQuorum }, (_, qa) => ({
      ensembleSize,
      writeQuorum,
      ackQuorum: qa + 1,
      minRegions: 1,
    })),
  ),
);

describe("H15: coverage", () => {
  test("H15 (rule 10): every E <= 6, all quorums, all subsets, against all ack sets", () => {
    let checked = 0;
    for (const replication of quorums) {
      const { ensembleSize, ackQuorum } = replication;
      // Brute force over the definition: every set of Qa bookies of every entry's write set.
      const ackSets = Array.from({ length: 2 * ensembleSize }, (_, entry) => {
        const set = writeSetPositions(entry as EntryId, replication);
        return subsets(ensembleSize).filter(
          (one) => one.size === ackQuorum && [...one].every((position) => set.includes(position)),
        );
      }).flat();
      for (const known of subsets(ensembleSize)) {
        const unheard = ackSets.some((set) => [...set].every((position) => !known.has(position)));
        const what = `${JSON.stringify(replication)} known ${[...known]}`;
        expect(coversEveryWriteSet(known, replication), what).toBe(!unheard);
        checked += 1;
      }
    }
    expect(checked).toBe(2 + 3 * 4 + 6 * 8 + 10 * 16 + 15 * 32 + 21 * 64);
  });

  test.each([
    // E, Qw, Qa, unknown positions, covered
    [5, 3, 2, [0, 1], false], // the window {0, 1, 2} has two unknown in a row
    [5, 3, 2, [0, 2], false],
    [5, 3, 2, [3], true],
    [4, 2, 2, [0, 2], true],
    [4, 2, 2, [0, 1], false],
    [6, 3, 2, [0, 3], true],
    [6, 3, 2, [0, 2], false],
    [5, 3, 3, [0, 1, 3], true],
    [5, 3, 3, [0, 1, 2], false],
    [2, 2, 1, [1], false],
    [3, 3, 1, [0], false],
    [3, 3, 3, [0, 1], true],
  ])("H15 (rule 10): %i/%i/%i with %j unknown is covered: %s", (e, qw, qa, unknown, covered) => {
    const replication = { ensembleSize: e, writeQuorum: qw, ackQuorum: qa, minRegions: 1 };
    const known = new Set(Array.from({ length: e }, (_, position) => position));
    for (const position of unknown) known.delete(position);
    expect(coversEveryWriteSet(known, replication)).toBe(covered);
  });

  test("H17 (rule 10): a bookie not heard of yet counts as unknown, for every quorum", () => {
    for (const replication of quorums) expect(coversEveryWriteSet(new Set(), replication)).toBe(false);
  });

  test("H17 (rule 10): recovery waits for B1 while B1 alone could have acknowledged", async () => {
    const w = await World.make({ bookies: ["B0", "B1"], quorums: [2, 2, 1] });
    await (await w.writer()).add("e0");
    const late = w.faults.hold({ client: "R", target: "B1", call: "fence" });
    const recovery = w.recovery();
    await w.idle();
    expect(w.faults.count({ client: "R", call: "recoveryRead" })).toBe(0);
    late.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  });
});

describe("answers to the fence", () => {
  test("H18 (rules 10, 11): 2/2/2, an empty ledger, B0 has nothing, B1 is dead: closed at -1", async () => {
    const w = await World.make({ bookies: ["B0", "B1"], quorums: [2, 2, 2] });
    await w.writer();
    w.faults.fail({ target: "B1" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: -1, length: 0 });
  });

  test("H19 (rule 11): 2/2/1, B0 has nothing, B1 is dead and may have had e0 alone: no end", async () => {
    const w = await World.make({ bookies: ["B0", "B1"], quorums: [2, 2, 1] });
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", call: "add" });
    expect(await writer.add("e0")).toBe("acknowledged 0");
    const back = w.faults.fail({ client: "R", target: "B1" });
    expect(await failure(w.recover())).toBe("insufficient_regions");
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    back();
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  });

  test("H21 (rule 10): an empty last fragment, B1's one entry says LAC -1: reading starts at 1", async () => {
    const w = await World.make({ bookies: ["B1", "B2", "B3"], quorums: [2, 2, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    await changeLedger(w, (ledger) => {
      if (ledger.state !== "OPEN") throw new Error("not open");
      return replaceEnsemble(ledger, 1 as EntryId, members(w, "B1 B3"));
    });
    w.faults.fail({ target: "B3" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0, length: 2 });
    expect(w.faults.count({ call: "recoveryRead", about: 0 })).toBe(0);
    expect(w.faults.count({ call: "recoveryAdd" })).toBe(0);
    expect(await w.ensembles()).toEqual({ 0: "B1 B2", 1: "B1 B3" });
    expect(await w.read(w.reader(), 0)).toBe("e0");
  });

  test("H21 (rule 10): fragments 0, 1000, an empty one at 2000: no old entry is read again", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4", "B5"], quorums: [2, 2, 2] });
    await w.writer();
    await changeLedger(w, (ledger) => {
      if (ledger.state !== "OPEN") throw new Error("not open");
      const second = replaceEnsemble(ledger, 1_000 as EntryId, members(w, "B2 B3"));
      return replaceEnsemble(second, 2_000 as EntryId, members(w, "B4 B5"));
    });
    await store(w, "B2", sealed(w, { entry: 1_999, lastAddConfirmed: 1_998, length: 123_456 }));
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1_999, length: 123_456 });
    const read = w.faults.log.filter(({ port, call }) => port === "bookie" && call === "recoveryRead");
    expect(Math.min(...read.map(({ about }) => Number(about)))).toBe(2_000);
  });
});

describe("H22: a damaged entry in the answer to the fence", () => {
  test("H22 (rules 10, 11): it proves the fence, its LAC is ignored, it is no negative", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] });
    await (await w.writer()).add("e0", "e1", "e2", "e3", "e4", "e5");
    // e6 reached B0 only, and rotted there; the header's claim of LAC 900 is part of the damage.
    await store(w, "B0", damaged(sealed(w, { entry: 6, lastAddConfirmed: 900 })));
    w.faults.fail({ client: "R", target: "B2" });
    expect(await failure(w.recover())).toBe("insufficient_regions");
    expect(w.trace).toContainEqual(expect.objectContaining({ event: "recovery-started", firstEntry: 5 }));
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
  });

  test("H22 (rules 10, 11): B1's good copy decides; damaged B0 and dead B2 are replaced", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 2] });
    await (await w.writer()).add("e0", "e1", "e2", "e3", "e4", "e5", "e6");
    await store(w, "B0", damaged(await stored(w, "B0", 6)));
    w.faults.fail({ client: "R", target: "B2" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 6 });
    expect(await w.read(w.reader(), 6)).toBe("e6");
  });
});

test("H23 (rules 10, 21): a throttled bookie is unknown, at fence and at read, and asked again", async () => {
  const w = await World.make({ bookies: ["B0", "B1"], quorums: [2, 2, 1] });
  const writer = await w.writer();
  await writer.add("e0");
  const throttled = w.faults.fail({ client: "R", target: "B1" });
  const recovery = w.recovery();
  expect(await failure(w.run(recovery))).toBe("insufficient_regions");
  expect(w.faults.count({ client: "R", target: "B1", call: "fence" })).toBeGreaterThan(1);
  throttled();
  w.faults.fail({ client: "R", target: "B1" }, "before", 1); // once: the second try is answered
  expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  expect(await isSettled(w, recovery)).toBe(true);
});
