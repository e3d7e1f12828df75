/** Cards H47 to H51: the writer's close never decides what recovery has begun to decide (rules 9, 12). */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { closeLedger, startRecovery } from "../../../lib/protocol/ledger-metadata.ts";
import { World } from "../world.ts";
import { changeLedger, isSettled, slots } from "./meddling.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

describe("H47: close after a write that failed", () => {
  test.each([
    ["B0 is heard first: e3 belongs to the ledger", ["B1", "B2"], 3],
    ["B1 and B2 are heard first: it does not", ["B0"], 2],
  ])("H47 (rules 8, 9): e3 sits on B0 only and cannot be acknowledged; %s", async (_, slow, end) => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2");
    for (const target of ["B1", "B2"]) w.faults.fail({ target, call: "add" });
    expect(await writer.add("e3")).toBe("insufficient_regions, side effects possible");
    expect(await slots(w, 3, "B0 B1 B2")).toBe("original nothing nothing");

    // The close does not say "ends at my last acknowledged": recovery finds out, as for anybody.
    const held = slow.map((target) => w.faults.hold({ target, call: "recoveryRead", about: 3 }));
    const closing = writer.writer.close();
    await w.idle();
    for (const one of held) one.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: end });
    expect(await w.ledger()).toMatchObject({ lastEntry: end });
    expect(await w.read(w.reader(), 3)).toBe(end === 3 ? "e3" : "beyond-end");
  });
});

describe("H49: another client closed first", () => {
  async function closingWriter(meddle: (w: World) => Promise<void>) {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1");
    const cas = w.faults.hold({ client: "W", port: "metadata", call: "write" });
    const closing = writer.writer.close();
    await w.idle();
    expect(cas.calls.length).toBe(1);
    await meddle(w);
    cas.release();
    return { w, closed: await w.run(closing) };
  }

  const closeAt = (lastEntry: number, length: number) => (w: World) =>
    changeLedger(w, (ledger) => {
      if (ledger.state !== "OPEN") throw new Error("not open");
      return closeLedger(ledger, { lastEntry: entryId(lastEntry), length });
    });

  test("H49 (rule 9): at the same end: the close succeeds", async () => {
    const { closed } = await closingWriter(closeAt(1, 4));
    expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 1, length: 4 });
  });

  test("H49 (rules 9, 12): at another end: the writer reports that one and never its own", async () => {
    const { w, closed } = await closingWriter(closeAt(2, 104));
    expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 2, length: 104 });
    expect(await w.ledger()).toMatchObject({ state: "CLOSED", lastEntry: 2, length: 104 });
  });

  test("H49 (rules 9, 12): by a whole recovery: both name one end", async () => {
    const { w, closed } = await closingWriter(async (world) => void (await world.recover()));
    expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 1, length: 4 });
    expect(await w.ledger()).toEqual(closed);
  });
});

describe("H50: IN_RECOVERY between the writer's read and its compare-and-set", () => {
  test("H50 (rule 9): the writer does not override it; its close goes on as a recovery", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const cas = w.faults.hold({ client: "W", port: "metadata", call: "write" }, "before", 1);
    const closing = writer.writer.close();
    await w.idle();
    await changeLedger(w, (ledger) => {
      if (ledger.state !== "OPEN") throw new Error("not open");
      return startRecovery(ledger);
    });
    const fences = w.faults.hold({ client: "W", call: "fence" });
    cas.release();
    await w.idle();
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
    expect(fences.calls.length).toBe(3); // it fences before it says anything about the end
    fences.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    const by = w.trace.flatMap((event) => (event.event === "ledger-closed" ? [event.by] : []));
    expect(by).toEqual(["recovery"]);
  });

  test("H50 (rules 9, 12): the recovery that set it closes; the writer adopts its end", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const cas = w.faults.hold({ client: "W", port: "metadata", call: "write" }, "before", 1);
    const closing = writer.writer.close();
    const reads = w.faults.hold({ client: "R", call: "recoveryRead" });
    const recovery = w.recovery();
    await w.idle();
    cas.release();
    await w.idle();
    reads.release();
    const [mine, theirs] = await w.run(Promise.all([closing, recovery]));
    expect(mine).toEqual(theirs);
    expect(mine).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  });
});

describe("H51: two closes", () => {
  test("H51 (rule 9): the second one says nothing before the first one's compare-and-set", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const cas = w.faults.hold({ client: "W", port: "metadata", call: "write" });
    const first = writer.writer.close();
    await w.idle();
    const second = writer.writer.close();
    expect(await isSettled(w, second)).toBe(false);
    cas.release();
    expect(await w.run(Promise.all([first, second]))).toMatchObject([{ lastEntry: 0 }, { lastEntry: 0 }]);
    expect(w.faults.count({ client: "W", port: "metadata", call: "write" })).toBe(2); // created, closed
  });

  test("H51 (rules 8, 9): the first meets silent metadata; the second decides by recovery", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    const silent = w.faults.fail({ client: "W", port: "metadata" });
    const first = writer.writer.close();
    await expect(w.run(first)).rejects.toMatchObject({ code: "unavailable" });
    silent();
    expect(await w.run(writer.writer.close())).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.run(writer.writer.close())).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  });
});
