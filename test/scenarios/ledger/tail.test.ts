/** Stories of the tail: when a strong reader may return an entry, or say "nothing yet" (rules 13, 14). */
import { describe, expect, test } from "vitest";
import { brokenPromises } from "../promises.ts";
import { World, type WorldFields } from "../world.ts";
import { each, neverReadsAgain, only, sees } from "./broken/wrong-clients.ts";
import { threeOfFour } from "./three-of-four.ts";

const four = (quorums: WorldFields["quorums"], otherwise: Partial<WorldFields> = {}) =>
  World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums, ...otherwise });

/** Two negatives of a write set of four are enough for it, as if Qa were 3. */
const contentWithTwo = sees(({ replication }) => ({ replication: { ...replication, ackQuorum: 3 } }));

describe("S12 (rule 14): e0 is acknowledged on B3 and B1, and a reader still takes B0 for a member", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    for (const target of ["B0", "B2"]) w.faults.fail({ client: "W", target, port: "bookie" });
    expect(await writer.add("e0")).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    return await w.read(reader, 0);
  }

  test("two answers of nothing are not enough: the version differs, and it reads again", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("e0");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("without the metadata read it denies an acknowledged entry", async () => {
    const w = await threeOfFour({ client: only("T", neverReadsAgain) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(['"nothing yet" of entry 0, acknowledged before']);
  });
});

describe("S15 (rule 14): 4/4/2, e0 is acknowledged on B0 and B1; a reader hears B2 and B3 first", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B2", "B3");
    expect(await writer.add("e0")).toBe("acknowledged 0");
    const slow = w.faults.hold({ client: "T", port: "bookie", target: "B0" });
    const slower = w.faults.hold({ client: "T", port: "bookie", target: "B1" });
    const said = w.reading(w.reader("T"), 0);
    await w.idle();
    slow.release();
    slower.release();
    return await w.run(said);
  }

  test("NEG is 3: two answers of nothing prove nothing", async () => {
    const w = await four([4, 4, 2]);
    expect(await story(w)).toBe("e0");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a reader content with two denies an acknowledged entry", async () => {
    const w = await four([4, 4, 2], { client: only("T", contentWithTwo) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(['"nothing yet" of entry 0, acknowledged before']);
  });
});

describe("S16 (rule 14): 4/4/3, closed by Tombstones on B0 and B1; a reader hears B2 and B3 alone", () => {
  async function story(w: World) {
    await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    for (const target of ["B2", "B3"]) w.faults.hold({ client: "R", target, call: "recoveryRead" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    expect(await Promise.all(["B0", "B2"].map((name) => w.slot(name, 0)))).toEqual(["tombstone", "nothing"]);
    w.cut("T", "B0", "B1");
    return await w.read(reader, 0);
  }

  test("the metadata read that follows the slots says CLOSED", async () => {
    const w = await four([4, 4, 3]);
    expect(await story(w)).toBe("beyond-end");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("without the metadata read a closed ledger passes for a tail", async () => {
    const w = await four([4, 4, 3], { client: only("T", neverReadsAgain) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(['"nothing yet" of entry 0, closed before']);
  });
});

describe("S21 (rules 11, 13): 4/4/2 in two regions; e0 is on B0 and B2, both of region a", () => {
  const twoRegions: Partial<WorldFields> = { bookies: ["B0@a", "B1@b", "B2@a", "B3@b"], minRegions: 2 };

  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B1", "B3");
    void writer.send("e0");
    await w.idle();
    const said = await w.read(w.reader("T"), 0);
    w.freeze("W");
    const away = ["B0", "B2"].map((target) => w.faults.fail({ client: "R", target, port: "bookie" }));
    const first = await w.run(w.recovery().catch((error) => error.code));
    for (const comesBack of away) comesBack();
    return { said, first };
  }

  test("no ACK set: a reader does not return it; and two negatives are too few to drop it", async () => {
    const w = await four([4, 4, 2], twoRegions);
    expect(await story(w)).toEqual({ said: "undecided", first: "insufficient_regions" });
    expect(w.acknowledged).toEqual([]);
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("negatives that count regions, and a reader that counts bookies alone: lost", async () => {
    const oneRegion = sees(({ replication }) => ({ replication: { ...replication, minRegions: 1 } }));
    const w = await four([4, 4, 2], { ...twoRegions, client: each({ T: oneRegion, R: contentWithTwo }) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});

describe("rules 6, 11: e0 was returned from two regions, and a replacement left it in one", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", port: "bookie" }, "after");
    for (const target of ["B2", "B3"]) w.faults.fail({ client: "W", target, port: "bookie" });
    void writer.send("e0");
    await w.idle();
    expect(await w.read(w.reader("T"), 0)).toBe("e0");
    await w.clock.advance(100);
    expect(await w.ensembles()).toEqual({ 0: "B4 B1 B2 B3" });
    w.freeze("W");
    for (const target of ["B4", "B1"])
      w.faults.hold({ client: "R", port: "bookie", target, call: "recoveryRead", about: 0 }, "before", 1);
    return await w.recover();
  }

  const bookies = ["B0@a", "B1@b", "B2@a", "B3@b", "B4@b"];

  test("recovery waits for a third answer, and finds it", async () => {
    const w = await four([4, 4, 2], { bookies, minRegions: 2 });
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("content with two, as the rest holds no ACK set, it loses what was returned", async () => {
    const w = await four([4, 4, 2], { bookies, minRegions: 2, client: only("R", contentWithTwo) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});

test("a ledger that is being recovered has no tail to tell of, empty slots or not (rule 14)", async () => {
  const w = await threeOfFour();
  await w.writer();
  w.cut("R", "B0", "B1", "B2");
  void w.recovery();
  await w.idle();
  expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
  const reader = w.reader();
  expect([await w.read(reader, 0), await w.read(reader, 0)]).toEqual(["undecided", "undecided"]);
});
