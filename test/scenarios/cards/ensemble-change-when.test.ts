/** Cards H66 to H70: when the ensemble changes, how often, and what arrives after it did (rules 6, 7). */
import { describe, expect, test } from "vitest";
import { limits } from "../../../lib/protocol/limits.ts";
import { World } from "../world.ts";
import { acknowledged, sendMany, slots } from "./meddling.ts";

const names = (count: number) => Array.from({ length: count }, (_, index) => `B${index}`);
const persisting = { client: "W", port: "metadata", call: "write" } as const;
const failAdds = (w: World, target: string) => w.faults.fail({ client: "W", target, call: "add" });

describe("H66: the change waits until it is needed", () => {
  test("H66 (rule 6): 5/5/3, two dead: no change; a third dead: one change for all", async () => {
    const w = await World.make({ bookies: names(8), quorums: [5, 5, 3] });
    const writer = await w.writer();
    failAdds(w, "B0");
    failAdds(w, "B3");
    for (let entry = 0; entry < 20; entry++) expect(await writer.add("x")).toBe(`acknowledged ${entry}`);
    await w.clock.advance(10_000);
    expect(w.faults.count(persisting)).toBe(1);
    failAdds(w, "B4");
    expect(await writer.add("x")).toBe("acknowledged 20");
    expect(w.faults.count(persisting)).toBe(2);
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2 B3 B4", 20: "B5 B1 B2 B6 B7" });
  });

  test("H66 (rule 6): the two come back before a third fails: no change at all", async () => {
    const w = await World.make({ bookies: names(8), quorums: [5, 5, 3] });
    const writer = await w.writer();
    const ends = ["B0", "B3"].map((target) => failAdds(w, target));
    await writer.add("e0", "e1");
    for (const end of ends) end();
    failAdds(w, "B4");
    expect(await writer.add("e2", "e3")).toBe("acknowledged 3");
    await w.clock.advance(10_000);
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2 B3 B4" });
  });
});

describe("H67: a storm of changes", () => {
  test("H67 (rule 6): each entry costs a bookie: the writer stops at the cap of fragments", async () => {
    const w = await World.make({ bookies: names(limits.fragmentsMax + 5), quorums: [1, 1, 1] });
    const writer = await w.writer();
    w.addresses.forEach(({ id }, index) => {
      // The bookie takes its own entry, and none after it.
      for (let after = 1; after <= 3; after++) {
        w.faults.fail({ client: "W", target: id, call: "add", about: index + after });
      }
    });
    for (let entry = 0; entry < limits.fragmentsMax; entry++) {
      expect(await writer.add("x")).toBe(`acknowledged ${entry}`);
    }
    expect(writer.writer.fragmentCount).toBe(limits.fragmentsMax);
    expect(await writer.add("x")).toBe("insufficient_regions, side effects possible");
    expect(writer.writer.stopped?.message).toContain(`${limits.fragmentsMax} fragments`);
    expect((await w.ledger()).fragments.length).toBe(limits.fragmentsMax);
    expect(writer.writer.lastAddConfirmed).toBe(limits.fragmentsMax - 1);
  });

  test("H67 (rule 6): a spare that failed lately is taken only if no other is left", async () => {
    const w = await World.make({ bookies: names(6), quorums: [3, 3, 3] });
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "B0");
    const down = w.faults.fail({ client: "W", target: "B3" });
    expect(await writer.add("e1")).toBe("acknowledged 1"); // B3 was tried, and failed
    down();
    failAdds(w, "B1");
    expect(await writer.add("e2")).toBe("acknowledged 2");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B4 B1 B2", 2: "B4 B5 B2" });
    failAdds(w, "B2");
    expect(await writer.add("e3")).toBe("acknowledged 3");
    expect((await w.ensembles())[3]).toBe("B4 B5 B3");
  });
});

test("H69 (rule 6): a late failure of a complete entry starts no change at the next add", async () => {
  const w = await World.make({ bookies: names(4), quorums: [3, 3, 2] });
  const writer = await w.writer();
  const late = w.faults.hold({ client: "W", target: "B0", call: "add", about: 0 });
  expect(await writer.add("e0")).toBe("acknowledged 0");
  w.faults.fail({ client: "W", target: "B0", call: "add", about: 0 });
  late.lose();
  await w.clock.advance(100);
  expect(w.trace).toContainEqual(expect.objectContaining({ event: "bookie-failed", bookie: "B0" }));
  expect(await writer.add("e1")).toBe("acknowledged 1");
  expect(w.faults.count(persisting)).toBe(1);
  expect(await slots(w, 1, "B0 B1 B2")).toBe("original original original");
});

describe("H70: a time-out, and the request that arrives all the same", () => {
  test("H70 (rules 4, 5, 7): B0 stores e5 after B3 took its place: nobody asks for it", async () => {
    const w = await World.make({ bookies: names(4), quorums: [3, 3, 3] });
    const writer = await w.writer();
    await w.run(Promise.all(sendMany(writer, 0, 5)));
    const late = w.faults.hold({ client: "W", target: "B0", call: "add" });
    expect(await writer.add("e5")).toBe("acknowledged 5"); // after two time-outs
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 5: "B3 B1 B2" });
    late.release();
    await w.idle();
    expect(await slots(w, 5, "B0 B1 B2 B3")).toBe("original original original original");
    expect(acknowledged(w)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await w.read(w.reader(), 5)).toBe("e5");
    expect(w.faults.count({ client: "T", target: "B0", call: "read", about: 5 })).toBe(0);

    // B0 works again, and still does not come back for B1: no other spare is left, so the writer stops.
    failAdds(w, "B1");
    expect(await writer.add("e6")).toBe("insufficient_regions, side effects possible");
    expect((await w.ledger()).retired).toEqual(["B0"]);
  });

  test("H70 (rules 2, 8): it arrives after recovery closed the ledger: never served", async () => {
    const w = await World.make({ bookies: names(4), quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    const late = ["B0", "B1"].map((target) => w.faults.hold({ client: "W", target, call: "add" }));
    const e1 = writer.send("e1");
    w.faults.hold({ client: "R", target: "B2", call: "recoveryRead" });
    expect(await w.recover()).toMatchObject({ lastEntry: 0 });
    for (const held of late) held.release();
    expect(await w.run(e1)).toBe("fenced, side effects possible");
    expect(await slots(w, 1, "B0 B1 B2")).toBe("tombstone tombstone original");
    expect(await w.read(w.reader(), 1)).toBe("beyond-end");
  });
});
