/** The writer's clean close: a seal, then the metadata; where that does not go through, recovery (rule 9). */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { markDeleted, sealEnd } from "../../../lib/protocol/ledger/end-ledger.ts";
import {
  failure,
  isFenced,
  isSettled,
  sealed,
  sendMany,
  slots,
  store,
} from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

async function written(count: number, fields: Parameters<typeof World.make>[0] = three) {
  const w = await World.make(fields);
  const writer = await w.writer();
  await w.run(Promise.all(sendMany(writer, 0, count)));
  return { w, writer, close: () => w.run(writer.writer.close()) };
}

const closedBy = (w: World) =>
  w.trace.flatMap((event) => (event.event === "ledger-closed" ? [event.by] : []));

describe("a clean close", () => {
  test("seals the slot behind the end on NEG bookies, then writes CLOSED; no fence", async () => {
    const { w, writer } = await written(3);
    const cas = w.faults.hold({ client: "W", port: "metadata", call: "write" });
    const closing = writer.writer.close();
    await w.idle();
    expect(cas.calls.length).toBe(1);
    expect((await slots(w, 3, "B0 B1 B2")).match(/tombstone/g)?.length).toBeGreaterThanOrEqual(2);
    expect((await w.ledger()).state).toBe("OPEN");
    cas.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 2, length: 6 });
    expect(closedBy(w)).toEqual(["writer"]);
    expect(await isFenced(w, "B0")).toBe(false);
    expect(await w.read(w.reader(), 3)).toBe("beyond-end");
  });

  test("of an empty ledger: slot 0 is sealed, the end is -1", async () => {
    const { w, close } = await written(0);
    expect(await close()).toMatchObject({ state: "CLOSED", lastEntry: -1, length: 0 });
    expect(await slots(w, 0, "B0 B1 B2")).toMatch(/tombstone.*tombstone/);
  });

  test("waits for what is pending and takes nothing new meanwhile", async () => {
    const { w, writer } = await written(1);
    const held = w.faults.hold({ client: "W", call: "add" });
    const pending = sendMany(writer, 1, 300); // some of them are not even sent yet
    await w.idle();
    const closing = writer.writer.close();
    expect(await isSettled(w, closing)).toBe(false);
    expect(await writer.add("too late")).toBe("not_ready, side effects none");
    held.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 300 });
    expect((await w.run(Promise.all(pending))).at(-1)).toBe("acknowledged 300");
  });

  test("may be called again and again, and says the same", async () => {
    const { w, close } = await written(2);
    const first = await close();
    expect(await close()).toEqual(first);
    expect(closedBy(w)).toEqual(["writer"]);
  });

  test("one bookie down or occupied still leaves NEG seals", async () => {
    const { w, close } = await written(1);
    w.faults.fail({ client: "W", target: "B0", call: "seal" });
    expect(await close()).toMatchObject({ lastEntry: 0 });
    expect(closedBy(w)).toEqual(["writer"]);

    const occupied = await written(1);
    await store(occupied.w, "B1", sealed(occupied.w, { entry: 1 }));
    expect(await occupied.close()).toMatchObject({ lastEntry: 0 });
    expect(closedBy(occupied.w)).toEqual(["writer"]);
  });

  test.each(["before", "after"] as const)(
    "a seal's lost message (%s its effect) is sent again",
    async (moment) => {
      const { w, close } = await written(1);
      for (const target of three.bookies) w.faults.fail({ client: "W", target, call: "seal" }, moment, 1);
      expect(await close()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
      expect(closedBy(w)).toEqual(["writer"]);
    },
  );

  test.each(["before", "after"] as const)(
    "the metadata's lost message (%s its effect): one end",
    async (moment) => {
      const { w, close } = await written(1);
      w.faults.fail({ client: "W", port: "metadata", call: "write" }, moment, 1);
      expect(await close()).toMatchObject({ state: "CLOSED", lastEntry: 0, length: 2 });
      expect(closedBy(w)).toEqual(["writer"]);
    },
  );
});

describe("not clean: recovery decides", () => {
  test("the seal meets occupied slots: what is there is recovered, the end is behind it", async () => {
    const { w, writer, close } = await written(1);
    const stray = sealed(w, { entry: 1, lastAddConfirmed: 0, length: 4, tenure: writer.writer.tenure });
    for (const name of ["B1", "B2"]) await store(w, name, stray);
    expect(await close()).toMatchObject({ state: "CLOSED", lastEntry: 1, length: 4 });
    expect(closedBy(w)).toEqual(["recovery"]);
    expect(await w.read(w.reader(), 1)).toBe("e1");
    expect(await isFenced(w, "B1")).toBe(true);
  });

  test("too few bookies for the seal: left in recovery; a later close finishes it", async () => {
    const { w, close } = await written(2);
    const ends = ["B0", "B1"].map((target) => w.faults.fail({ target }));
    expect(await failure(close())).toBe("insufficient_regions");
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    for (const end of ends) end();
    expect(await close()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
  });

  test("the writer is fenced already: its close is a recovery like any other", async () => {
    const { w, writer, close } = await written(2);
    const other = await w.recover();
    await writer.add("e2");
    expect(await close()).toEqual(other);
  });

  test("adds were outstanding when the writer stopped: they are in or out as recovery finds", async () => {
    const { w, writer, close } = await written(1);
    for (const target of ["B0", "B1"]) w.faults.fail({ client: "W", target, call: "add" });
    expect(await writer.add("e1")).toBe("insufficient_regions, side effects possible");
    const slow = w.faults.hold({ client: "W", target: "B0", call: "recoveryRead", about: 1 });
    const other = w.faults.hold({ client: "W", target: "B1", call: "recoveryRead", about: 1 });
    const closing = writer.writer.close();
    await w.idle();
    slow.release();
    other.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    expect(await close()).toMatchObject({ lastEntry: 1 });
    expect(closedBy(w)).toEqual(["recovery"]);
  });

  test("the ledger was deleted meanwhile: said so, not retryable", async () => {
    const { w, close } = await written(1);
    await w.recover();
    await w.run(markDeleted(w.ports("D"), w.theLedger()));
    await expect(close()).rejects.toMatchObject({ code: "fenced", retryable: false });
  });
});

describe("sealEnd", () => {
  test("counts Tombstones only, placed or found; true again when run twice", async () => {
    const { w } = await written(1);
    const seal = async (last: number) => w.run(sealEnd(w.ports("S"), await w.ledger(), entryId(last)));
    expect([await seal(0), await seal(0)]).toEqual([true, true]);
    expect(await slots(w, 1, "B0 B1 B2")).toBe("tombstone tombstone tombstone");
    const copy = sealed(w, { entry: 5 });
    for (const name of ["B0", "B1"]) await store(w, name, copy, "recovered");
    expect(await seal(4)).toBe(false);
    expect(await slots(w, 5, "B0 B1 B2")).toBe("recovered recovered tombstone");
  });

  test("asks the write set of the slot behind the end, striped, in the last fragment", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [4, 2, 2] });
    await w.writer();
    expect(await w.run(sealEnd(w.ports("S"), await w.ledger(), entryId(1)))).toBe(true);
    expect(await slots(w, 2, "B0 B1 B2 B3")).toBe("nothing nothing tombstone tombstone");
  });

  test("does not count storage that is not the bookie's own (rule 21)", async () => {
    const { w } = await written(1);
    for (const name of ["B0", "B1"]) await w.wipe(name);
    expect(await w.run(sealEnd(w.ports("S"), await w.ledger(), entryId(0)))).toBe(false);
  });
});
