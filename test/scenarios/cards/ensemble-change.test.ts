/** Cards H53 to H59: nothing is acknowledged that the persisted ensemble does not hold (rules 5, 6). */
import { describe, expect, test } from "vitest";
import { World } from "../world.ts";
import { acknowledged, endOf, isSettled, sendMany, slots } from "./meddling.ts";

const names = (count: number) => Array.from({ length: count }, (_, index) => `B${index}`);

/** Adds of `entry` at these bookies fail, now and later, as far as this writer can see. */
function failAdds(w: World, targets: string, entry?: number): void {
  for (const target of targets.split(" ")) {
    w.faults.fail({ client: "W", target, call: "add", ...(entry === undefined ? {} : { about: entry }) });
  }
}

const persisting = { client: "W", port: "metadata", call: "write" } as const;

describe("H53: no acknowledgement before the metadata", () => {
  test("H53 (rules 6b, 6c): copies are made, the metadata stalls: nothing is acknowledged", async () => {
    const w = await World.make({ bookies: names(5), quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "B0 B1");
    const stalled = w.faults.hold(persisting);
    const adds = sendMany(writer, 1, 2);
    await w.clock.advance(100);
    expect(await slots(w, 1, "B3 B4 B2")).toBe("original original original");
    expect(await slots(w, 2, "B3 B4 B2")).toBe("original original original");
    adds.push(...sendMany(writer, 3, 2)); // held back: no bookie sees them
    await w.clock.advance(100);
    expect([acknowledged(w), w.faults.count({ call: "add", about: 3 })]).toEqual([[0], 0]);
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });

    stalled.release();
    expect(await w.run(Promise.all(adds))).toEqual([1, 2, 3, 4].map((entry) => `acknowledged ${entry}`));
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B4 B2" });
  });

  test("H53 (rules 6c, 8, 10): recovery gets in while the change stalls: fenced, none lost", async () => {
    const w = await World.make({ bookies: names(5), quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "B0 B1");
    const stalled = w.faults.hold(persisting);
    const e1 = writer.send("e1");
    await w.clock.advance(100);
    expect(endOf(await w.recover())).toBeGreaterThanOrEqual(0);
    expect(w.faults.count({ client: "R", target: "B3" })).toBe(0); // recovery knows nothing of B3
    stalled.release();
    expect(await w.run(e1)).toBe("fenced, side effects possible");
    expect(acknowledged(w)).toEqual([0]);
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
  });
});

describe("H54: complete entries behind an incomplete one, during a change", () => {
  test("H54 (rules 6b to 6d): 4/2/2: e1 and e2 are on B4 before they are acknowledged", async () => {
    const w = await World.make({ bookies: names(5), quorums: [4, 2, 2] });
    const writer = await w.writer();
    const late = w.faults.hold({ client: "W", target: "B0", call: "add" }); // e0, e3, e4 wait for B0
    failAdds(w, "B2", 5);
    const persist = w.faults.hold(persisting);
    const adds = sendMany(writer, 0, 6);
    await w.clock.advance(100);
    expect(persist.calls.length).toBe(1);
    for (const entry of [1, 2, 5]) expect(await slots(w, entry, "B4")).toBe("original");
    late.release();
    await w.idle(); // e0 and e3 are complete now, in the middle of the change
    expect(acknowledged(w)).toEqual([]);

    persist.release();
    expect(await w.run(Promise.all(adds))).toEqual([0, 1, 2, 3, 4, 5].map((e) => `acknowledged ${e}`));
    expect(acknowledged(w)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B4 B3" });
    for (const [entry, set] of ["B0 B1", "B1 B4", "B4 B3", "B3 B0", "B0 B1", "B1 B4"].entries()) {
      expect(await slots(w, entry, set)).toBe("original original");
    }
  });

  test("H54 (rules 6b, 6c): 6/2/2, all of e1's write set is replaced: it is on the new two", async () => {
    const w = await World.make({ bookies: names(8), quorums: [6, 2, 2] });
    const writer = await w.writer();
    const late = w.faults.hold({ client: "W", target: "B0", call: "add" }); // e0 blocks the queue
    failAdds(w, "B1 B2", 7); // e7 goes to B1 and B2, like e1, which both have stored
    const adds = sendMany(writer, 0, 8);
    await w.clock.advance(100);
    expect(await slots(w, 1, "B1 B2 B6 B7")).toBe("original original original original");
    expect(acknowledged(w)).toEqual([]);
    late.release();
    await w.run(Promise.all(adds));
    expect(acknowledged(w)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await w.ensembles()).toEqual({ 0: "B0 B6 B7 B3 B4 B5" });
    for (const bookie of ["B1", "B2"]) w.faults.fail({ target: bookie });
    expect(await w.read(w.reader(), 1)).toBe("e1");
  });

  test("H54 (rules 6b, 6c): 2/1/1: e1 was complete on B1, which crashed; B2 must have it", async () => {
    const w = await World.make({ bookies: names(3), quorums: [2, 1, 1] });
    const writer = await w.writer();
    const late = w.faults.hold({ client: "W", target: "B0", call: "add", about: 0 });
    failAdds(w, "B1", 3);
    const copy = w.faults.hold({ client: "W", target: "B2", call: "add", about: 1 });
    const adds = sendMany(writer, 0, 4);
    await w.clock.advance(100);
    expect(await slots(w, 1, "B1 B2")).toBe("original nothing");
    late.release();
    await w.idle();
    expect(acknowledged(w)).toEqual([]);
    copy.release();
    await w.run(Promise.all(adds));
    expect(acknowledged(w)).toEqual([0, 1, 2, 3]);
    expect(await w.ensembles()).toEqual({ 0: "B0 B2" });
    expect(await slots(w, 1, "B2")).toBe("original");
  });
});

test.each([0, 5])(
  "H55 (rules 6a, 6c): 2/2/1, %i acknowledged; late acks of replaced bookies move nothing",
  async (first) => {
    const w = await World.make({ bookies: names(4), quorums: [2, 2, 1] });
    const writer = await w.writer();
    if (first > 0) await w.run(Promise.all(sendMany(writer, 0, first)));
    // Two entries are stored on B0 and B1, their acks are late; a third fails on both.
    const late = ["B0", "B1"].flatMap((target) =>
      [first, first + 1].map((about) => w.faults.hold({ client: "W", target, call: "add", about }, "after")),
    );
    failAdds(w, "B0 B1", first + 2);
    const persist = w.faults.hold(persisting);
    const adds = sendMany(writer, first, 3);
    await w.clock.advance(100);
    expect(persist.calls.length).toBe(1); // computed from the frozen last add confirmed
    for (const held of late) held.release();
    await w.idle();
    expect(writer.writer.lastAddConfirmed).toBe(first - 1);

    persist.release();
    await w.run(Promise.all(adds));
    expect(writer.writer.lastAddConfirmed).toBe(first + 2);
    const old = first === 0 ? {} : { 0: "B0 B1" };
    expect(await w.ensembles()).toEqual({ ...old, [first]: "B2 B3" });
    for (const entry of [first, first + 1, first + 2]) {
      expect(await slots(w, entry, "B2 B3")).toBe("original original");
    }
  },
);

test("H57 (rules 5, 6): A is replaced; its later time-outs change nothing and hold nothing up", async () => {
  const w = await World.make({ bookies: ["A", "B", "C", "D", "E"], quorums: [3, 3, 3] });
  const writer = await w.writer();
  await writer.add("e0");
  failAdds(w, "A", 1); // refused at once
  w.faults.hold({ client: "W", target: "A", call: "add" }); // the others get no answer at all
  const adds = sendMany(writer, 1, 3);
  await w.clock.advance(100);
  expect(acknowledged(w)).toEqual([0, 1, 2, 3]); // long before the time-outs
  await w.clock.advance(10_000);
  expect(await w.ensembles()).toEqual({ 0: "A B C", 1: "D B C" });
  expect(w.faults.count(persisting)).toBe(2); // created, changed once
  expect(await writer.add("e4")).toBe("acknowledged 4");
  expect(await w.run(Promise.all(adds))).toEqual([1, 2, 3].map((entry) => `acknowledged ${entry}`));
});

test("H57 (rules 5, 6): A's time-out for an entry that still waits for B does not cost D its place", async () => {
  const w = await World.make({ bookies: ["A", "B", "C", "D", "E"], quorums: [3, 3, 3] });
  const writer = await w.writer();
  failAdds(w, "A", 0);
  const silent = w.faults.hold({ client: "W", target: "A", call: "add", about: 1 });
  const slow = w.faults.hold({ client: "W", target: "B", call: "add", about: 1 });
  const adds = sendMany(writer, 0, 2);
  await w.clock.advance(100);
  expect(await w.ensembles()).toEqual({ 0: "D B C" });
  failAdds(w, "A", 1);
  silent.lose(); // both tries of it have failed by the time that B answers
  await w.clock.advance(100);
  slow.release();
  expect(await w.run(Promise.all(adds))).toEqual(["acknowledged 0", "acknowledged 1"]);
  expect(await w.ensembles()).toEqual({ 0: "D B C" });
});

test("H58 (rules 5, 6d): C's ack of e1, late and not needed, counts when A and B are replaced", async () => {
  const w = await World.make({ bookies: ["A@r", "B@r", "C@s", "D@r", "E@r"], quorums: [3, 3, 2] });
  const writer = await w.writer();
  const e0 = ["B", "C"].map((target) => w.faults.hold({ client: "W", target, call: "add", about: 0 }));
  const late = w.faults.hold({ client: "W", target: "C", call: "add", about: 1 });
  void writer.send("e0"); // A only: blocks the queue
  const e1 = writer.writer.add(new TextEncoder().encode("e1"));
  await w.idle();
  expect(await slots(w, 1, "A B C")).toBe("original original nothing");
  late.release(); // e1 was complete already
  await w.idle();

  failAdds(w, "A B", 2);
  const e2 = writer.send("e2");
  await w.clock.advance(100);
  expect(await w.ensembles()).toEqual({ 0: "D E C" });
  expect(await w.run(e1)).toEqual({ entryId: 1, regions: ["r", "s"] });
  expect(await w.run(e2)).toBe("acknowledged 2");
  expect(w.faults.count({ port: "bookie", client: "W", target: "C", call: "add", about: 1 })).toBe(1);
  for (const held of e0) held.release();
});

test("H59 (rule 6): 2/2/2, both bookies fail under 300 adds: all are acknowledged in the end", async () => {
  const w = await World.make({ bookies: names(4), quorums: [2, 2, 2] });
  const writer = await w.writer();
  failAdds(w, "B0 B1");
  const adds = sendMany(writer, 0, 300);
  const outcomes = await w.run(Promise.all(adds));
  expect(outcomes.every((outcome) => outcome.startsWith("acknowledged"))).toBe(true);
  expect(acknowledged(w)).toEqual(Array.from({ length: 300 }, (_, entry) => entry));
  expect(await w.ensembles()).toEqual({ 0: "B2 B3" });
  expect(w.faults.count(persisting)).toBeLessThanOrEqual(3); // created, and one change for each bookie
});

test("H59 (rule 6): B0 fails, B1 during its change: a second change, nothing is stuck", async () => {
  const w = await World.make({ bookies: names(4), quorums: [2, 2, 2] });
  const writer = await w.writer();
  failAdds(w, "B0");
  const slow = w.faults.hold({ client: "W", target: "B1", call: "add" });
  const persist = w.faults.hold(persisting, "before", 1);
  const adds = sendMany(writer, 0, 10);
  await w.clock.advance(100);
  expect(persist.calls.length).toBe(1);
  failAdds(w, "B1");
  slow.lose();
  await w.clock.advance(100);
  persist.release();
  expect(await isSettled(w, Promise.all(adds))).toBe(true);
  expect(acknowledged(w)).toEqual(Array.from({ length: 10 }, (_, entry) => entry));
  expect(await w.ensembles()).toEqual({ 0: "B2 B3" });
});
