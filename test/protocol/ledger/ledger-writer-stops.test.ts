/** How a writer ends: fenced, out of bookies, metadata too old. Sent may be stored, held is not. */
import { describe, expect, test } from "vitest";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { LedgerWriter } from "../../../lib/protocol/ledger/ledger-writer.ts";
import { startRecovery } from "../../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { Placement } from "../../../lib/protocol/placement/placement.ts";
import { acknowledged, changeLedger, sendMany, slots } from "../../scenarios/cards/meddling.ts";
import { Adder, World } from "../../scenarios/world.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;
const HOUR_MS = 3_600_000;

const toRecovery = (w: World) =>
  changeLedger(w, (ledger) => {
    if (ledger.state !== "OPEN") throw new Error("not open");
    return startRecovery(ledger);
  });

describe("a fence (LGW4, rule 8)", () => {
  test("what was sent is rejected with side effects possible, what was held with none", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const held = w.faults.hold({ client: "W", call: "add" });
    const adds = sendMany(writer, 0, limits.pendingAddsMax + 44);
    await w.idle();
    await w.recover();
    held.release();
    const outcomes = await w.run(Promise.all(adds));
    const sent = outcomes.slice(0, limits.pendingAddsMax);
    expect(new Set(sent)).toEqual(new Set(["fenced, side effects possible"]));
    expect(new Set(outcomes.slice(limits.pendingAddsMax))).toEqual(new Set(["fenced, side effects none"]));
    expect(await writer.add("later")).toBe("fenced, side effects none");
    expect(writer.writer.stopped).toMatchObject({ code: "fenced", retryable: true });
  });

  test("nothing is acknowledged after it, though an ACK set answers OK later", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const late = ["B1", "B2"].map((target) => w.faults.hold({ client: "W", target, call: "add" }, "after"));
    await w.store("B0").put({ kind: "fence", ledgerId: w.theLedger() }, { kind: "fence" });
    const e0 = writer.send("e0");
    await w.idle();
    for (const one of late) one.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
    await w.idle();
    expect(acknowledged(w)).toEqual([]);
    expect(writer.writer.lastAddConfirmed).toBe(-1);
  });

  test("one fenced bookie is enough, though the others would do", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    await w.store("B2").put({ kind: "fence", ledgerId: w.theLedger() }, { kind: "fence" });
    const slow = ["B0", "B1"].map((target) => w.faults.hold({ client: "W", target, call: "add" }));
    const e1 = writer.send("e1");
    await w.idle();
    for (const one of slow) one.release();
    expect(await w.run(e1)).toBe("fenced, side effects possible");
  });

  test("in the answer to a copy during an ensemble change: the change is not written", async () => {
    const w = await World.make({ ...three, bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    await w.store("B3").put({ kind: "fence", ledgerId: w.theLedger() }, { kind: "fence" });
    w.faults.fail({ client: "W", target: "B0", call: "add" });
    expect(await writer.add("e0")).toBe("fenced, side effects possible");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
  });

  test("a fence while the ensemble changes stops the writer; the change is void", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", call: "add" });
    const late = w.faults.hold({ client: "W", target: "B1", call: "add" });
    const persist = w.faults.hold({ client: "W", port: "metadata", call: "write" });
    const e0 = writer.send("e0");
    await w.clock.advance(100);
    expect(persist.calls.length).toBe(1);
    const heldBack = writer.send("e1");
    await w.store("B1").put({ kind: "fence", ledgerId: w.theLedger() }, { kind: "fence" });
    late.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
    expect(await w.run(heldBack)).toBe("fenced, side effects none");
    persist.release();
    await w.clock.advance(1_000);
    expect(acknowledged(w)).toEqual([]);
    expect(w.faults.count({ client: "W", call: "add", about: 1 })).toBe(0);
  });
});

describe("no bookie left (rule 7)", () => {
  test("the writer stops, names who answered what, and which regions; outcome unknown", async () => {
    const w = await World.make({ bookies: ["A0@a", "A1@a", "B0@b"], quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    for (const target of ["A0", "A1"]) w.faults.fail({ client: "W", target, call: "add" });
    expect(await writer.add("e1")).toBe("insufficient_regions, side effects possible");
    expect(writer.writer.stopped?.details).toEqual({ answered_regions: ["b"], silent_regions: ["a"] });
    expect(writer.writer.stopped?.message).toMatch(/A1 unknown .*B0 stored it; A0 unknown/);
    expect(await writer.add("e2")).toBe("insufficient_regions, side effects none");
    expect((await w.ledger()).state).toBe("OPEN"); // left to recovery
    expect(await w.recover()).toMatchObject({ state: "CLOSED" });
  });

  test("not all failed bookies can be replaced, but enough: the writer goes on", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
    const writer = await w.writer();
    for (const target of ["B0", "B1"]) w.faults.fail({ client: "W", target, call: "add" });
    expect(await writer.add("e0", "e1")).toBe("acknowledged 1");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
  });

  test("an ensemble that cannot span minRegions at all stops the writer and writes no change", async () => {
    const w = await World.make({ bookies: ["A0@a", "A1@a", "A2@a"], quorums: [3, 3, 2], minRegions: 2 });
    const writer = await w.writer();
    expect(await writer.add("e0")).toBe("insufficient_regions, side effects possible");
    expect(w.faults.count({ client: "W", port: "metadata", call: "write" })).toBe(1);
  });

  test("a replacement that does not take the copies is passed over for the next", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    await writer.add("e0");
    for (const target of ["B0", "B3"]) w.faults.fail({ client: "W", target, call: "add" }, "after");
    expect(await w.run(Promise.all(sendMany(writer, 1, 5)))).toContain("acknowledged 5");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B4 B1 B2" });
  });

  test("a placement that offers a retired bookie is not followed: no copy goes there", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    const ports = w.ports("W");
    const forgetful: Placement = {
      ...ports.placement,
      replaceBookies: (request) =>
        ports.placement.replaceBookies({ ...request, retired: new Set(), excluded: new Set() }),
    };
    const ledger = await w.run(createLedger(ports, { replication: w.replication, digest: w.digest }));
    w.ledgerId = ledger.item.ledgerId;
    const writer = new Adder(w, new LedgerWriter({ ...ports, placement: forgetful }, ledger));
    w.faults.fail({ client: "W", target: "B0", call: "add", about: 0 });
    expect(await writer.add("e0")).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    // B1 fails, and B0 is the only other bookie: a stale reader still asks it as a member (S11).
    w.faults.fail({ client: "W", target: "B1", call: "add" });
    expect(await writer.add("e1")).toMatch(/side effects possible$/);
    expect(w.faults.count({ port: "bookie", client: "W", target: "B0", call: "add", about: 1 })).toBe(0);
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
  });

  test("a placement that moves another position is not followed: it would have no copies", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 3] });
    const ports = w.ports("W");
    const meddling: Placement = {
      ...ports.placement,
      replaceBookies: (request) => ports.placement.replaceBookies({ ...request, positions: [0, 2] }),
    };
    const ledger = await w.run(createLedger(ports, { replication: w.replication, digest: w.digest }));
    w.ledgerId = ledger.item.ledgerId;
    const writer = new Adder(w, new LedgerWriter({ ...ports, placement: meddling }, ledger));
    w.faults.fail({ client: "W", target: "B0", call: "add" });
    await writer.add("e0");
    for (const entry of acknowledged(w)) {
      const names = (await w.ensembles())[0] ?? "";
      expect(await slots(w, entry, names)).toBe("original original original");
    }
  });
});

describe("old metadata (LGW5, rule 15)", () => {
  test("before the first acknowledgement after half a day it is read again", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const reads = () => w.faults.count({ client: "W", port: "metadata", call: "get" });
    const before = reads();
    await w.clock.advance(limits.metadataAgeMaxMs - HOUR_MS);
    expect(await writer.add("e1")).toBe("acknowledged 1");
    expect(reads()).toBe(before);
    await w.clock.advance(2 * HOUR_MS);
    expect(await w.run(Promise.all(sendMany(writer, 2, 5)))).toContain("acknowledged 6");
    expect(reads()).toBe(before + 1); // once for all of them
    expect(acknowledged(w)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("IN_RECOVERY by then: nothing is acknowledged, though every bookie said OK", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    await toRecovery(w); // no bookie is fenced yet
    await w.clock.advance(limits.metadataAgeMaxMs);
    expect(await writer.add("e1")).toBe("fenced, side effects possible");
    expect(acknowledged(w)).toEqual([0]);
  });

  test("it cannot be read: the writer stops, outcome unknown", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await w.clock.advance(limits.metadataAgeMaxMs);
    w.faults.fail({ client: "W", port: "metadata" });
    expect(await writer.add("e0")).toBe("unavailable, side effects possible");
    expect(acknowledged(w)).toEqual([]);
  });

  test("while it is read nothing is acknowledged and nothing new is sent (LGW3)", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await w.clock.advance(limits.metadataAgeMaxMs);
    const slow = w.faults.hold({ client: "W", port: "metadata", call: "get" });
    const adds = [writer.send("e0")];
    await w.idle();
    adds.push(writer.send("e1"));
    await w.idle();
    expect([acknowledged(w), w.faults.count({ call: "add", about: 1 })]).toEqual([[], 0]);
    slow.release();
    expect(await w.run(Promise.all(adds))).toEqual(["acknowledged 0", "acknowledged 1"]);
  });

  test("a wall clock that went back counts as old; so does one never told of a read", async () => {
    const w = await World.make(three);
    const ports = w.ports("W");
    let skewMs = 0;
    const clock = {
      nowMs: () => w.clock.nowMs() + skewMs,
      monotonicMs: () => w.clock.monotonicMs(),
      startTimer: (delayMs: number, fire: () => void) => w.clock.startTimer(delayMs, fire),
    };
    const create = createLedger({ ...ports, clock }, { replication: w.replication, digest: w.digest });
    const { readAt, ...ledger } = await w.run(create);
    const reads = () => w.faults.count({ client: "W", port: "metadata", call: "get" });
    const before = reads();
    const told = new Adder(w, new LedgerWriter({ ...ports, clock }, { ...ledger, readAt }));
    expect(await told.add("e0")).toBe("acknowledged 0");
    expect(reads()).toBe(before);
    skewMs = -HOUR_MS;
    expect(await told.add("e1")).toBe("acknowledged 1");
    expect(reads()).toBe(before + 1);

    const fresh = await w.run(createLedger(ports, { replication: w.replication, digest: w.digest }));
    const { readAt: _, ...untold } = fresh;
    const atThat = reads();
    const other = new Adder(w, new LedgerWriter(ports, untold));
    expect(await other.add("e0")).toBe("acknowledged 0");
    expect(reads()).toBe(atThat + 1);
  });
});
