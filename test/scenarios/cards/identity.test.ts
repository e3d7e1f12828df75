/**
 * Cards H09, H10, H25, H26: a bookie is its storage. Storage that came back empty, under the same name, makes
 * every answer unknown, so nothing is ruled out and nothing acknowledged on it (rule 21).
 */
import { describe, expect, test } from "vitest";
import { World } from "../world.ts";
import { damaged, failure, freshProcess, sealed, sendMany, slots, store, stored } from "./meddling.ts";

const blank = [
  ["unmarked", undefined],
  ["marked as other storage", "storage-of-another-bookie"],
] as const;

describe.each(blank)("storage came back empty, %s", (_, mark) => {
  test("H09 (rules 11, 21): 3/3/3, the wiped B0 answers first; ten acknowledged entries stay", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    await w.run(Promise.all(sendMany(writer, 0, 10)));
    expect(writer.writer.lastAddConfirmed).toBe(9);
    await w.wipe("B0", mark);

    const others = ["B1", "B2"].map((target) => w.faults.hold({ client: "R", target }));
    const recovery = w.recovery();
    await w.clock.advance(1_000); // one negative would be enough, and B0 has had its say
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    for (const held of others) held.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 9 });
    const reader = w.reader();
    for (let entry = 0; entry < 10; entry++) expect(await w.read(reader, entry)).toBe(`e${entry}`);
  });

  test("H09 (rules 11, 21): with B1 and B2 silent, recovery gives up and is taken up later", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    await (await w.writer()).add("e0", "e1");
    await w.wipe("B0", mark);
    const ends = ["B1", "B2"].map((target) => w.faults.fail({ client: "R", target }));
    expect(await failure(w.recover())).toBe("insufficient_regions");
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    for (const end of ends) end();
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
  });

  test("H10 (rules 6c, 8, 21): 2/2/2, both bookies re-created; the old writer gets no ack", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [2, 2, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    await w.recover();
    for (const name of ["B0", "B1"]) await w.wipe(name, mark);

    // Neither fence nor Tombstone is left, and both adds are physically stored.
    expect(await writer.add("e1")).toBe("fenced, side effects possible");
    expect(writer.writer.lastAddConfirmed).toBe(0);
    expect(await w.ledger()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.ensembles()).toEqual({ 0: "B0 B1" });
    expect(await failure(freshProcess(w, "B0").add(sealed(w, { entry: 5 })))).toBe("unavailable");
  });

  test("H25 (rules 11, 21): 3/3/2, B0 lost e0, B2 never had it; that is no end", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] });
    w.faults.fail({ client: "W", target: "B2", call: "add" });
    expect(await (await w.writer()).add("e0")).toBe("acknowledged 0");
    await w.wipe("B0", mark);
    const silent = w.faults.fail({ client: "R", target: "B1" });
    expect(await failure(w.recover())).toBe("insufficient_regions");
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    silent();
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await slots(w, 0, "B1 B2")).toBe("original recovered");
    expect(await w.read(w.reader(), 0)).toBe("e0");
  });

  test("H26 (rules 8, 21): B1 lost its fence, B2 never had one; e2 gets no ACK set", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0", "e1");
    w.faults.fail({ client: "R", target: "B2" }); // no fence gets through to B2
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    await w.wipe("B1", mark);

    const slow = w.faults.hold({ client: "W", target: "B0", call: "add" });
    const e2 = writer.send("e2");
    await w.clock.advance(100);
    expect(await w.slot("B2", 2)).toBe("original"); // B2 says OK, B1 would have
    expect(writer.writer.lastAddConfirmed).toBe(1);
    slow.release();
    expect(await w.run(e2)).toBe("fenced, side effects possible");
    expect(writer.writer.lastAddConfirmed).toBe(1);
  });
});

test("H25 (rules 5, 11): a copy that rotted on B0 is no copy and no negative", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] });
  w.faults.fail({ client: "W", target: "B2", call: "add" });
  await (await w.writer()).add("e0");
  await store(w, "B0", damaged(await stored(w, "B0", 0)));
  w.faults.fail({ client: "R", target: "B1" });
  expect(await failure(w.recover())).toBe("insufficient_regions");
  expect((await w.ledger()).state).toBe("IN_RECOVERY");
});
