/** Cards H01 to H06 and H13: a fence holds, whatever was lost, late, restarted or replaced. */
import { describe, expect, test } from "vitest";
import { bookieId, entryId, ledgerId } from "../../../lib/protocol/ids.ts";
import { World } from "../world.ts";
import { failure, freshProcess, isFenced, isSettled, sealed, slots } from "./meddling.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

describe("a recovery read fences by itself", () => {
  test("H01 (rules 3, 8): the fence to B1 is lost; e2 reaches B1 after the end was found", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1");
    const late = ["B0", "B1"].map((target) => w.faults.hold({ client: "W", target, call: "add", about: 2 }));
    const e2 = writer.send("e2");
    await w.idle();
    expect(await slots(w, 2, "B0 B1 B2")).toBe("nothing nothing original");

    w.faults.fail({ client: "R", target: "B1", call: "fence" });
    w.faults.hold({ client: "R", target: "B2", call: "recoveryRead" }); // the copy on B2 is slow
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    for (const held of late) held.release();
    expect(await w.run(e2)).toBe("fenced, side effects possible");
    expect(await slots(w, 2, "B0 B1")).toBe("tombstone tombstone");
    expect(writer.writer.lastAddConfirmed).toBe(1);
    expect(await w.read(w.reader(), 2)).toBe("beyond-end");
  });

  test("H02 (rule 3): the fence is overtaken by the recovery read, which fences all the same", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const late = w.faults.hold({ client: "W", target: "B1", call: "add", about: 1 });
    w.faults.fail({ client: "W", target: "B0", call: "add", about: 1 });
    const e1 = writer.send("e1");
    await w.idle();

    const delayed = w.faults.hold({ client: "R", target: "B1", call: "fence" });
    w.faults.hold({ client: "R", target: "B2", call: "recoveryRead" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await isFenced(w, "B1")).toBe(true); // and the fence call has not arrived yet
    late.release();
    expect(await w.run(e1)).toBe("fenced, side effects possible");
    delayed.release();
    await w.idle();
    expect(writer.writer.lastAddConfirmed).toBe(0);
  });
});

describe("a fence is durable before any answer", () => {
  test("H03 (rules 1, 2): all bookies restart after the fence; a repeated add is refused", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    await w.recover();
    for (const name of three.bookies) {
      // A process without memory over the same storage: what restarts remember is what was stored.
      expect(await freshProcess(w, name).add(sealed(w, { entry: 1 }))).toEqual({ kind: "fenced" });
      expect(await isFenced(w, name)).toBe(true);
    }
    expect(await writer.add("e1")).toBe("fenced, side effects possible");
  });

  test("H05 (rule 3): not answered before the fence is stored, nor if that fails", async () => {
    const w = await World.make(three);
    const id = ledgerId(5);
    const bookie = w.ports("R").bookies.bookie(bookieId("B0"));
    const slow = w.faults.hold({ port: "store", target: "B0", call: "put", about: "fence" });
    const fence = bookie.fence(id);
    const again = freshProcess(w, "B0").fence(id); // another process: its own durable put, its own answer
    expect(await isSettled(w, again)).toBe(true);
    expect(await isSettled(w, fence)).toBe(false);
    slow.lose();
    expect(await failure(fence)).toBe("unavailable");
    w.faults.fail({ port: "store", target: "B0", call: "put", about: "fence" });
    expect(await failure(bookie.fence(id))).toBe("unavailable");
    expect(await failure(bookie.recoveryRead(id, entryId(0)))).toBe("unavailable");
  });

  test("H05 (rules 3, 11): a bookie whose fence fails counts for nothing in recovery", async () => {
    const w = await World.make({ ...three, quorums: [3, 3, 1] }); // NEG = 3: each bookie is needed
    await (await w.writer()).add("e0");
    const end = w.faults.fail({ port: "store", client: "R", target: "B1", call: "put", about: "fence" });
    expect(await failure(w.recover())).toBe("insufficient_regions");
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    end();
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  });

  test("H05b (rules 3, 11): B1 crashes with a negative at hand and no fence stored", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const late = ["B0", "B1"].map((target) => w.faults.hold({ client: "W", target, call: "add", about: 0 }));
    const e0 = writer.send("e0"); // stored on B2 only
    await w.idle();

    const unfenced = w.faults.hold({ port: "store", client: "R", target: "B1", call: "put", about: "fence" });
    const slow = w.faults.hold({ client: "R", target: "B2", call: "recoveryRead" });
    const recovery = w.recovery();
    await w.idle();
    // B0 is a negative. B1 has read nothing, tombstoned nothing and answered nothing yet.
    expect(await slots(w, 0, "B0 B1 B2")).toBe("tombstone nothing original");
    expect(await isSettled(w, recovery)).toBe(false);
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    w.faults.fail({ client: "R", target: "B1" }); // B1 is down for R from here on
    unfenced.lose();
    late[1]?.release(); // B1 is back, unfenced: it stores e0, and with B2 that is an ACK set
    expect(await w.run(e0)).toBe("acknowledged 0");
    slow.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.read(w.reader(), 0)).toBe("e0");
  });

  test("H06 (rules 2, 3): a bookie that never saw the ledger is fenced and refuses e0", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const late = ["B0", "B1", "B2"].map((target) => w.faults.hold({ client: "W", target, call: "add" }));
    const e0 = writer.send("e0");
    await w.idle();
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: -1, length: 0 });
    expect(await freshProcess(w, "B1").add(sealed(w, { entry: 0 }))).toEqual({ kind: "fenced" });
    for (const held of late) held.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
  });

  test("H06 (rule 2): a fence stands without any slot of the ledger beside it", async () => {
    const w = await World.make(three);
    w.ledgerId = ledgerId(99);
    expect(await freshProcess(w, "B0").fence(w.theLedger())).toEqual({});
    for (const entry of [0, 7]) {
      expect(await freshProcess(w, "B0").add(sealed(w, { entry }))).toEqual({ kind: "fenced" });
    }
  });
});

test("H13 (rules 6c, 8): a bookie that recovery put in is fenced by the write-back like the others", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
  const writer = await w.writer();
  await writer.add("e0");
  w.faults.fail({ target: "B0" });
  for (const target of ["B1", "B2"]) w.faults.fail({ client: "W", target, call: "add" }, "after");
  const persist = w.faults.hold({ client: "W", port: "metadata", call: "write" });
  const e1 = writer.send("e1");
  await w.clock.advance(1_000);
  // The writer took B3 in B0's place, which was unfenced and said OK; its change is not written yet.
  expect(persist.calls.length).toBe(1);
  expect(await slots(w, 1, "B1 B2 B3")).toBe("original original original");

  expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
  expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
  expect(await isFenced(w, "B3")).toBe(true);
  persist.release();
  expect(await w.run(e1)).toBe("fenced, side effects possible");
  expect(await writer.add("e2")).toBe("fenced, side effects none");
  expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
  expect(await slots(w, 2, "B1 B2 B3")).toBe("tombstone tombstone nothing");
});
