/** Recovery's write-back: an ACK set for each entry, in local fragments that only the close makes visible. */
import { describe, expect, test } from "vitest";
import { bookieId } from "../../../lib/protocol/ids.ts";
import { WriteBack } from "../../../lib/protocol/ledger/write-back.ts";
import { startRecovery, withFragment } from "../../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { SealedEntry } from "../../../lib/protocol/ports.ts";
import type { Fragment } from "../../../lib/protocol/replication.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { damaged, fragment, sealed, slots, store, stored } from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const five = ["B0", "B1", "B2", "B3", "B4"];

async function started(fields: Parameters<typeof World.make>[0]) {
  const w = await World.make(fields);
  await w.writer();
  const ledger = await w.ledger();
  if (ledger.state !== "OPEN") throw new Error("not open");
  const ports = w.ports("R");
  const writeBack = new WriteBack(ports, startRecovery(ledger));
  const entries = (first: number, count: number): SealedEntry[] =>
    Array.from({ length: count }, (_, offset) => sealed(w, { entry: first + offset }));
  return { w, ports, ledger, writeBack, entries, hold: (some: SealedEntry[]) => w.run(writeBack.hold(some)) };
}

const shape = (fragments: readonly Fragment[]) =>
  Object.fromEntries(fragments.map((one) => [one.firstEntry, one.ensemble.map((b) => b.id).join(" ")]));

const failing = (w: World, target: string, about?: number) =>
  w.faults.fail({ client: "R", target, call: "recoveryAdd", ...(about === undefined ? {} : { about }) });

describe("an ACK set for each entry (RL3)", () => {
  test("every bookie of the write set gets it, also those that have it already", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 2] });
    const [e0] = entries(0, 1);
    if (e0 === undefined) throw new Error("no entry");
    await store(w, "B1", e0);
    await w
      .store("B2")
      .put({ kind: "slot", ledgerId: e0.header.ledgerId, entryId: e0.header.entryId }, { kind: "tombstone" });
    await hold([e0]);
    expect(await slots(w, 0, "B0 B1 B2")).toBe("recovered original recovered");
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2" });
  });

  test("failures up to Qw - Qa cost no replacement", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 2] });
    failing(w, "B1");
    await hold(entries(0, 30));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2" });
    expect(await slots(w, 29, "B0 B1 B2 B3")).toBe("recovered nothing recovered nothing");
  });

  test("striped: only the write sets of the entry are written to", async () => {
    const { w, hold, entries } = await started({ bookies: five, quorums: [5, 2, 2] });
    await hold(entries(0, 5));
    expect(await slots(w, 3, "B0 B1 B2 B3 B4")).toBe("nothing nothing nothing recovered recovered");
    expect(await slots(w, 4, "B0 B1 B2 B3 B4")).toBe("recovered nothing nothing nothing recovered");
  });

  test("minRegions counts here too: with region b lost, two bookies of a are not enough", async () => {
    const bookies = ["A0@a", "A1@a", "B0@b", "C0@c"];
    const { w, hold, entries, writeBack } = await started({ bookies, quorums: [3, 3, 2], minRegions: 2 });
    failing(w, "B0");
    await hold(entries(0, 2));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "A0 A1 C0" });
    const lost = await started({ bookies: bookies.slice(0, 3), quorums: [3, 3, 2], minRegions: 2 });
    failing(lost.w, "B0");
    const error = await lost.hold(lost.entries(0, 1)).catch((reason) => reason);
    expect(error).toMatchObject({
      code: "insufficient_regions",
      sideEffects: "possible",
      details: { answered_regions: ["a"], silent_regions: ["b"] },
    });
  });
});

describe("local fragments (RL4)", () => {
  test("begin with the metadata's last one, and start where the first entry failed", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    failing(w, "B1", 3);
    await hold(entries(0, 6));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2", 3: "B0 B3 B2" });
    expect(await slots(w, 2, "B0 B1 B2 B3")).toBe("recovered recovered recovered nothing");
    for (const entry of [3, 4, 5])
      expect(await slots(w, entry, "B0 B3 B2")).toBe("recovered recovered recovered");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" }); // nobody else sees them
  });

  test("failing at the first entry replaces the ensemble at the same key (H39)", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    failing(w, "B1");
    await hold(entries(0, 4));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2" });
  });

  test("two failures one after the other on one entry: one key, replaced twice (H41)", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    failing(w, "B1");
    failing(w, "B3"); // the first replacement
    await hold(entries(0, 4));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B4 B2" });
  });

  test("grow over several calls; entries held before stay in the fragment that holds them", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    await hold(entries(0, 4));
    failing(w, "B0");
    await hold(entries(4, 4));
    failing(w, "B2");
    await hold(entries(8, 4));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2", 4: "B3 B1 B2", 8: "B3 B1 B4" });
    expect(await slots(w, 3, "B0 B1 B2")).toBe("recovered recovered recovered");
    expect(await slots(w, 7, "B3 B1 B2")).toBe("recovered recovered recovered");
    expect(await slots(w, 11, "B3 B1 B4")).toBe("recovered recovered recovered");
  });

  test("later entries of the call move to the new ensemble with the one that failed", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 2, 2] });
    failing(w, "B1", 1); // e1 is on B1 B2, e0 on B0 B1, e3 on B0 B1 again
    await hold(entries(0, 5));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2", 1: "B0 B3 B2" });
    for (const [entry, set] of [
      [0, "B0 B1"],
      [1, "B3 B2"],
      [2, "B2 B0"],
      [3, "B0 B3"],
      [4, "B3 B2"],
    ] as const) {
      expect(await slots(w, entry, set)).toBe("recovered recovered");
    }
  });

  test("are made of the metadata's last fragment, not of older ones", async () => {
    const w = await World.make({ bookies: five, quorums: [2, 2, 2] });
    await w.writer();
    const ledger = await w.ledger();
    if (ledger.state !== "OPEN") throw new Error("not open");
    const fragments = withFragment(ledger.fragments, fragment(w, 7, "B2 B3"));
    const writeBack = new WriteBack(w.ports("R"), { ...startRecovery(ledger), fragments });
    expect(shape(writeBack.localFragments)).toEqual({ 7: "B2 B3" });
    failing(w, "B2");
    await w.run(writeBack.hold([sealed(w, { entry: 7 })]));
    expect(shape(writeBack.localFragments)).toEqual({ 7: "B0 B3" });
  });

  test("bookies that once left an ensemble may serve again here (rule 7)", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [2, 2, 2] });
    await w.writer();
    const ledger = await w.ledger();
    if (ledger.state !== "OPEN") throw new Error("not open");
    const inRecovery = startRecovery({
      ...ledger,
      fragments: [fragment(w, 0, "B2 B1")],
      retired: [bookieId("B0")],
    });
    const writeBack = new WriteBack(w.ports("R"), inRecovery);
    failing(w, "B1");
    await w.run(writeBack.hold([sealed(w, { entry: 0 })]));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B2 B0" });
  });
});

describe("bookies that are late (WB2)", () => {
  const late = (w: World, ...targets: string[]) =>
    targets.map((target) => w.faults.hold({ client: "R", target, call: "recoveryAdd" }));
  const tookMs = async (w: World, work: Promise<unknown>) => {
    const startedMs = w.clock.nowMs();
    await work;
    return w.clock.nowMs() - startedMs;
  };

  test("others take their places once somebody has held the entry for long enough", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    late(w, "B1");
    expect(await tookMs(w, hold(entries(0, 4)))).toBe(limits.writeBackPatienceMs);
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2" });
    for (const entry of [0, 1, 2, 3])
      expect(await slots(w, entry, "B0 B3 B2")).toBe("recovered recovered recovered");
  });

  test("also by a clock that falls a fraction of a ms short of what was waited for", async () => {
    const { w, ports, ledger, entries } = await started({ bookies: five, quorums: [3, 3, 3] });
    const startMs = w.clock.nowMs();
    const clock = {
      nowMs: () => w.clock.nowMs(),
      monotonicMs: () => (w.clock.nowMs() - startMs) * (1 - 1e-9),
      startTimer: (delayMs: number, fire: () => void) => w.clock.startTimer(delayMs, fire),
    };
    const writeBack = new WriteBack({ ...ports, clock }, startRecovery(ledger));
    late(w, "B1");
    await w.run(writeBack.hold(entries(0, 4)));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2" });
  });

  test("at once, if they were silent before; the quarantine learns of those that were not", async () => {
    const { w, ports, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    ports.health.of(bookieId("B1")).keptWaiting();
    late(w, "B1");
    expect(await tookMs(w, hold(entries(0, 2)))).toBe(0);
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2" });
    late(w, "B2");
    await hold(entries(2, 2));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2", 2: "B0 B3 B4" });
    expect(ports.health.of(bookieId("B2")).isSilent).toBe(true);
  });

  test("where all are slow alike nobody is left out", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    w.faults.at({ client: "R", call: "recoveryAdd" }, "before", Number.POSITIVE_INFINITY, () =>
      pause(w.clock, 3 * limits.writeBackPatienceMs),
    );
    await hold(entries(0, 4));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2" });
  });

  test("where there are no others they have their whole time, and nobody is asked twice", async () => {
    const { w, hold, entries, writeBack } = await started({
      bookies: ["B0", "B1", "B2"],
      quorums: [3, 3, 3],
    });
    const [held] = late(w, "B1");
    w.clock.startTimer(limits.bookieCallTimeoutMs - 1, () => held?.release());
    await hold(entries(0, 1));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2" });
    expect(w.faults.count({ call: "recoveryAdd" })).toBe(3);
  });

  test("places are changed for lateness once; a replacement that is late as well is waited for", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    late(w, "B1");
    const [held] = late(w, "B3");
    w.clock.startTimer(3 * limits.writeBackPatienceMs, () => held?.release());
    await hold(entries(0, 1));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2" });
  });

  test("two writers that come to light while others are late still close nothing", async () => {
    const { w, hold, entries } = await started({ bookies: five, quorums: [3, 3, 3] });
    await store(w, "B1", sealed(w, { entry: 0, tenure: "another" }));
    const [held] = late(w, "B1", "B3");
    w.clock.startTimer(2 * limits.writeBackPatienceMs, () => held?.release());
    const error = await hold(entries(0, 1)).catch((reason) => reason);
    expect(error).toMatchObject({ code: "data_corrupt", retryable: false });
  });
});

describe("not enough bookies", () => {
  test("names who answered what; a later call may go on (H38)", async () => {
    const { w, hold, entries } = await started({ bookies: ["B0", "B1", "B2"], quorums: [3, 3, 3] });
    const end = failing(w, "B1");
    const error = await hold(entries(0, 2)).catch((reason) => reason);
    expect(error).toMatchObject({ code: "insufficient_regions", retryable: true, sideEffects: "possible" });
    expect(error.message).toMatch(/entry 0 cannot be written back: .*B0 stored it; B1 unknown/);
    end();
    await hold(entries(0, 2));
    expect(await slots(w, 1, "B0 B1 B2")).toBe("recovered recovered recovered");
  });

  test("as many as there are spares are replaced, if that is enough", async () => {
    const { w, hold, entries, writeBack } = await started({
      bookies: ["B0", "B1", "B2", "B3"],
      quorums: [3, 3, 2],
    });
    for (const target of ["B0", "B1"]) failing(w, target);
    await hold(entries(0, 3));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B3 B1 B2" });
  });

  test("an ensemble that can form no ACK set at all is refused at once", async () => {
    const { hold, entries } = await started({ bookies: ["A0@a", "A1@a"], quorums: [2, 2, 2], minRegions: 2 });
    const error = await hold(entries(0, 1)).catch((reason) => reason);
    expect(error.message).toContain("cannot form an ACK set at all");
  });
});

describe("an Original that is not this entry (rule 4)", () => {
  test("a genuine one of another tenure: two writers at once, nothing may be closed", async () => {
    const { w, hold, entries } = await started({ bookies: five, quorums: [3, 3, 3] });
    await store(w, "B1", sealed(w, { entry: 0, tenure: "another" }));
    const error = await hold(entries(0, 1)).catch((reason) => reason);
    expect(error).toMatchObject({ code: "data_corrupt", retryable: false });
    expect(await slots(w, 0, "B1 B3")).toBe("original nothing");
  });

  test("is never counted as a holder, and never replaced", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 2] });
    const other = sealed(w, { entry: 0, tenure: "another" });
    await store(w, "B1", other);
    failing(w, "B2");
    const error = await hold(entries(0, 1)).catch((reason) => reason);
    expect(error).toMatchObject({ code: "data_corrupt" });
    expect((await stored(w, "B1", 0)).header.tenure).toBe("another");
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B1 B2" });
  });

  test("a damaged one: its bookie cannot hold the entry, another one does", async () => {
    const { w, hold, entries, writeBack } = await started({ bookies: five, quorums: [3, 3, 3] });
    await store(w, "B1", damaged(sealed(w, { entry: 0 })));
    await hold(entries(0, 1));
    expect(shape(writeBack.localFragments)).toEqual({ 0: "B0 B3 B2" });
    expect(await slots(w, 0, "B0 B1 B3 B2")).toBe("recovered original recovered recovered");
    expect(w.trace).toContainEqual(expect.objectContaining({ event: "corrupt-entry", bookie: "B1" }));
  });

  test("a damaged one, and no other bookie: its region has answered, and is not called silent", async () => {
    const bookies = ["A0@a", "B0@b", "C0@c"];
    const { w, hold, entries } = await started({ bookies, quorums: [3, 3, 3], minRegions: 2 });
    await store(w, "B0", damaged(sealed(w, { entry: 0 })));
    failing(w, "C0");
    const error = await hold(entries(0, 1)).catch((reason) => reason);
    expect(error).toMatchObject({ details: { answered_regions: ["a", "b"], silent_regions: ["c"] } });
    expect(error.message).toContain("A0 stored it; B0 has a damaged copy; C0 unknown (");
  });
});
