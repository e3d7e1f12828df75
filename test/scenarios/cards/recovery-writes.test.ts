/** Cards H37 to H43: what recovery writes, and what nobody sees of it before the close. */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { closeLedger, withFragment } from "../../../lib/protocol/ledger-metadata.ts";
import { type Adder, World } from "../world.ts";
import { changeLedger, failure, fragment, slots } from "./meddling.ts";

/** Sends e0 so that only these bookies store it; no reply reaches the writer. */
async function sendOnlyTo(w: World, writer: Adder, names: string, text = "e0"): Promise<void> {
  const entry = writer.writer.lastAddPushed + 1;
  for (const { id } of w.addresses) {
    const reached = names.split(" ").includes(id);
    w.faults.hold({ client: "W", target: id, call: "add", about: entry }, reached ? "after" : "before");
  }
  void writer.send(text);
  await w.idle();
}

test("H37 (rules 11, 12): R replaces B1 by B3 and dies before B3 has e0; nobody sees B3", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 2, 2] });
  await sendOnlyTo(w, await w.writer(), "B0");
  const down = w.faults.fail({ target: "B1" });
  const frozen = w.faults.hold({ client: "R", target: "B3", call: "recoveryAdd" });
  void w.recovery();
  await w.clock.advance(500);
  expect(frozen.calls.length).toBe(1);
  expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });

  // The next recovery reads from the original ensemble, not from the empty B3.
  expect(await w.recover("R2")).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  expect(w.faults.count({ client: "R2", target: "B3", call: "recoveryRead" })).toBe(0);
  expect(await w.ensembles()).toEqual({ 0: "B0 B3 B2" });
  frozen.release();
  await w.idle();
  down();
  expect(await w.read(w.reader(), 0)).toBe("e0");
});

test("H37 (rule 11): the same with B1 back: e0 is recovered on B0 and B1, B3 plays no part", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 2, 2] });
  await sendOnlyTo(w, await w.writer(), "B0");
  const down = w.faults.fail({ target: "B1" });
  w.faults.hold({ client: "R", target: "B3", call: "recoveryAdd" });
  void w.recovery();
  await w.clock.advance(500);
  down();
  // One negative (NEG = 1) from B1 would be an honest end too; here B0 is heard first.
  const slow = w.faults.hold({ client: "R2", target: "B1", call: "recoveryRead" });
  const recovery = w.recovery("R2");
  await w.idle();
  slow.release();
  expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
});

test("H38 (rule 12): nothing can be written back, no spare: not closed; a later try is", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 3] });
  await sendOnlyTo(w, await w.writer(), "B0");
  const slow = ["B1", "B2"].map((target) => w.faults.hold({ client: "R", target, call: "recoveryRead" }));
  const broken = w.faults.fail({ call: "recoveryAdd" });
  const recovery = w.recovery();
  expect(await failure(w.run(recovery))).toBe("insufficient_regions");
  expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
  for (const one of slow) one.lose();
  broken();
  const again = ["B1", "B2"].map((target) => w.faults.hold({ client: "R", target, call: "recoveryRead" }));
  const retried = w.recovery();
  await w.idle();
  for (const one of again) one.release();
  expect(await w.run(retried)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  expect(await slots(w, 0, "B0 B1 B2")).toBe("original recovered recovered");
});

describe("bookies fail under the write-back", () => {
  const five = { bookies: ["B0", "B1", "B2", "B3", "B4", "B5"], quorums: [3, 3, 3] } as const;

  test("H39 (rules 11, 12): B1 fails at the first entry: the fragment is replaced", async () => {
    const w = await World.make(five);
    await sendOnlyTo(w, await w.writer(), "B0");
    w.faults.fail({ target: "B1" });
    const slow = w.faults.hold({ client: "R", target: "B2", call: "recoveryRead", about: 0 });
    const recovery = w.recovery();
    await w.clock.advance(100);
    slow.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.ensembles()).toEqual({ 0: "B0 B3 B2" });
    expect(await slots(w, 0, "B0 B3 B2")).toBe("original recovered recovered");
  });

  test("H41 (rules 11, 12): B0 and B1 fail on one entry, and B3 after them: one fragment", async () => {
    const w = await World.make(five);
    await sendOnlyTo(w, await w.writer(), "B2");
    for (const target of ["B0", "B1", "B3"]) w.faults.fail({ target, client: "R" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.ensembles()).toEqual({ 0: "B5 B4 B2" });
    expect(await w.read(w.reader(), 0)).toBe("e0");
  });
});

test("H42 (rule 12): another closes at -1 while R writes e0 back: R reports that end", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] });
  await sendOnlyTo(w, await w.writer(), "B0");
  for (const target of ["B1", "B2"]) w.faults.fail({ client: "R", target, call: "recoveryRead", about: 0 });
  const blocked = w.faults.hold({ client: "R", call: "recoveryAdd" });
  const recovery = w.recovery();
  await w.clock.advance(100);
  expect(blocked.calls.length).toBeGreaterThan(0);
  w.faults.fail({ client: "R2", target: "B0" });
  expect(await w.recover("R2")).toMatchObject({ state: "CLOSED", lastEntry: -1, length: 0 });
  blocked.release();
  expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: -1, length: 0 });
  expect(w.trace).toContainEqual(expect.objectContaining({ event: "recovery-adopted", lastEntry: -1 }));
  // e0 is now on B0 as an Original and on the others as Recovered, behind the end: nobody returns it.
  expect(await slots(w, 0, "B0 B1 B2")).toBe("original recovered recovered");
  expect(await w.read(w.reader(), 0)).toBe("beyond-end");
});

describe("H43: the last fragment changes under a recovery", () => {
  test.each([
    ["a fragment is added", 1, { 0: "B0 B1 B2", 1: "B3 B1 B2" }],
    ["the last one is replaced", 0, { 0: "B3 B1 B2" }],
  ])("H43 (rule 12): %s during recovery: R fails and closes nothing", async (_, first, ensembles) => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    await sendOnlyTo(w, writer, "B0 B1", "e1");
    const blocked = w.faults.hold({ client: "R", call: "recoveryAdd" });
    const recovery = w.recovery();
    await w.idle();
    await changeLedger(w, (ledger) => ({
      ...ledger,
      fragments: withFragment(ledger.fragments, fragment(w, first, "B3 B1 B2")),
    }));
    blocked.release();
    expect(await failure(w.run(recovery))).toBe("AssertionError");
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
    expect(await w.ensembles()).toEqual(ensembles);
  });
});

test("H43 (rule 12): the close is a compare-and-set: R never overwrites another's end", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] });
  await (await w.writer()).add("e0", "e1");
  const entered = w.faults.hold({ client: "R", port: "metadata", call: "write" }, "after", 1);
  const recovery = w.recovery();
  await w.idle();
  const closing = w.faults.hold({ client: "R", port: "metadata", call: "write" });
  entered.release();
  await w.idle();
  expect(closing.calls.length).toBe(1);
  await changeLedger(w, (ledger) => {
    if (ledger.state !== "IN_RECOVERY") throw new Error("not in recovery");
    return closeLedger(ledger, { lastEntry: entryId(7), length: 70 });
  });
  closing.release();
  expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 7, length: 70 });
});
