/** Stories of a writer that replaces bookies (rules 6, 7): B0 or B1 fails, B3 takes its place. */
import { describe, expect, test } from "vitest";
import { regionAware } from "../../../lib/protocol/placement/region-aware.ts";
import { brokenPromises } from "../promises.ts";
import { World } from "../world.ts";
import { copiesLater, only, takesAnyReplacement } from "./broken/wrong-clients.ts";
import { threeOfFour } from "./three-of-four.ts";

/** The writer's next write of metadata, under way. */
const changeOf = (w: World) => w.faults.hold({ client: "W", port: "metadata", call: "write" });

test("S08 (rule 6a): a late OK acknowledges nothing while the change is under way", async () => {
  const w = await threeOfFour();
  const writer = await w.writer();
  w.faults.fail({ client: "W", target: "B2", port: "bookie" });
  w.faults.fail({ client: "W", target: "B1", port: "bookie", about: 1 });
  const lateOk = w.faults.hold({ client: "W", target: "B1", port: "bookie", about: 0 }, "after");
  const change = changeOf(w);
  const [e0, e1] = [writer.send("e0"), writer.send("e1")];
  await w.clock.advance(100);
  expect(change.calls).toHaveLength(1);
  lateOk.release();
  await w.idle();
  expect(w.acknowledged).toEqual([]);
  change.release();
  expect([await w.run(e0), await w.run(e1)]).toEqual(["acknowledged 0", "acknowledged 1"]);
  expect(await w.ensembles()).toEqual({ 0: "B0 B3 B2" });
  w.cut("R", "B0");
  expect(await w.recover()).toMatchObject({ lastEntry: 1 });
  expect(await brokenPromises(w)).toEqual([]);
});

describe("S09 (rule 6b): e0 was returned from B0 and B1; B3 takes B0's place, and the writer dies", () => {
  async function story(w: World) {
    const writer = await w.writer();
    for (const target of ["B0", "B1"]) w.faults.fail({ client: "W", target, port: "bookie" }, "after");
    w.faults.fail({ client: "W", target: "B2", port: "bookie" });
    w.faults.hold({ client: "W", port: "metadata", call: "write" }, "after");
    void writer.send("e0");
    await w.idle();
    expect(await w.read(w.reader(), 0)).toBe("e0");
    await w.clock.advance(100);
    w.freeze("W");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    w.cut("R", "B1");
    return await w.recover();
  }

  test("the copy was on B3 before the metadata named it: recovery finds it", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("named first and copied later, what the reader returned is lost", async () => {
    const w = await threeOfFour({ client: only("W", copiesLater("B3")) });
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});

test("S10 (rule 6a): an add that comes during a change goes to the new ensemble", async () => {
  const w = await threeOfFour();
  const writer = await w.writer();
  w.faults.fail({ client: "W", target: "B0", port: "bookie", about: 0 }, "after");
  w.faults.fail({ client: "W", target: "B2", port: "bookie", about: 0 });
  const change = changeOf(w);
  const e0 = writer.send("e0");
  await w.clock.advance(100);
  expect(change.calls).toHaveLength(1);
  const e1 = writer.send("e1");
  await w.idle();
  const reader = w.reader();
  expect([await w.read(reader, 0), await w.read(reader, 1)]).toEqual(["e0", "nothing-yet"]);
  expect(w.faults.count({ client: "W", call: "add", about: 1 })).toBe(0);
  change.release();
  expect([await w.run(e0), await w.run(e1)]).toEqual(["acknowledged 0", "acknowledged 1"]);
  expect([await w.slot("B0", 1), await w.slot("B3", 1)]).toEqual(["nothing", "original"]);
  w.cut("R", "B1");
  expect(await w.recover()).toMatchObject({ lastEntry: 1 });
  expect(await brokenPromises(w)).toEqual([]);
});

describe("S11 (rule 7): B0 gave way to B3, and B3 fails too; a reader has the first metadata", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    for (const target of ["B0", "B2"]) w.faults.fail({ client: "W", target, port: "bookie", about: 0 });
    expect(await writer.add("e0")).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    for (const target of ["B3", "B2"]) w.faults.fail({ client: "W", target, port: "bookie", about: 1 });
    const change = changeOf(w);
    void writer.send("e1");
    await w.clock.advance(100);
    w.cut("T", "B2");
    const said = await w.read(reader, 1);
    w.freeze("W");
    w.cut("R", "B1");
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    return { said, changes: change.calls.length };
  }

  test("B0 never comes back: the writer stops, and nobody counts B0 and B1 together", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toEqual({ said: "undecided", changes: 0 });
    expect(await w.slot("B0", 1)).toBe("nothing");
    expect(w.trace.map((event) => event.event)).toContain("ensemble-change-refused");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a placement that offers B0 again is not followed, and no copy goes there", async () => {
    const w = await threeOfFour({ client: only("W", takesAnyReplacement) });
    expect(await story(w)).toEqual({ said: "undecided", changes: 0 });
    expect(await w.slot("B0", 1)).toBe("nothing");
    expect(await brokenPromises(w)).toEqual([]);
  });
});

describe("rule 7: there is nobody to take B0's place", () => {
  const noSpare = { bookies: ["B0", "B1", "B2"] };

  test("while an ACK set is within reach the writer goes on without it", async () => {
    const w = await threeOfFour(noSpare);
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", port: "bookie" });
    expect(await writer.add("e0", "e1")).toBe("acknowledged 1");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
  });

  test("one spare for two that failed: it takes one place, and the trace names who is left", async () => {
    const w = await threeOfFour();
    const writer = await w.writer();
    for (const target of ["B0", "B2"]) w.faults.fail({ client: "W", target, port: "bookie" });
    expect(await writer.add("e0")).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    const changes = w.trace.filter((event) => event.event === "ensemble-changed");
    expect(changes).toMatchObject([{ replaced: ["B0"], by: ["B3"], unreplaced: ["B2"] }]);
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a spare where it would let an ack quorum lie in one region: refused, the ledger as it was", async () => {
    const w = await World.make({
      bookies: ["A0@a", "B0@b", "A1@a", "B1@b", "B2@b"],
      quorums: [4, 4, 3],
      minRegions: 2,
      client: (ports) => ({ ...ports, placement: regionAware }),
    });
    const writer = await w.writer();
    await writer.add("e0");
    const before = await w.ledger();
    for (const target of ["A0", "A1"]) w.faults.fail({ client: "W", target, port: "bookie" });
    expect(await writer.add("e1")).toBe("insufficient_regions, side effects possible");
    expect(writer.writer.stopped?.details).toEqual({ answered_regions: ["b"], silent_regions: ["a"] });
    const refused = w.trace.filter((event) => event.event === "ensemble-change-refused");
    expect(refused).toMatchObject([{ reason: expect.stringContaining("(staying: b: 2; usable: b: 1)") }]);
    expect(await w.ledger()).toEqual(before);
    expect(await w.slot("B2", 1)).toBe("nothing");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("otherwise it stops, outcome unknown, and its close recovers the ledger", async () => {
    const w = await threeOfFour(noSpare);
    const writer = await w.writer();
    expect(await writer.add("e0")).toBe("acknowledged 0");
    const comeBack = ["B0", "B1"].map((target) => w.faults.fail({ client: "W", target, port: "bookie" }));
    expect(await writer.add("e1")).toBe("insufficient_regions, side effects possible");
    expect(await writer.add("e2")).toBe("insufficient_regions, side effects none");
    for (const end of comeBack) end();
    const closed = await w.run(writer.writer.close());
    expect(closed).toMatchObject({ state: "CLOSED" });
    expect(closed.lastEntry).toBeLessThanOrEqual(1);
    expect(await brokenPromises(w)).toEqual([]);
  });
});
