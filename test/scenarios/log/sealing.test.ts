/** Stories of sealing: an END item, elected and checked like a segment, ends the log (rules 24, 25, 29, 33c). */
import { describe, expect, test } from "vitest";
import type { FencelineError } from "../../../lib/protocol/errors.ts";
import { segmentNumber, seqNum } from "../../../lib/protocol/ids.ts";
import { logKey, segmentKey } from "../../../lib/protocol/items.ts";
import { LOG, type LogClient, LogWorld } from "./log-world.ts";

/** Every segment is full after one batch. */
const ONE_BATCH = { segmentBytesMax: 1 };
const SEALED = ["log_sealed, side effects none"];

/** "ends at N", or the error's code. */
const sealing = (client: LogClient): Promise<string> =>
  client.appends.seal(LOG).then(
    (tail) => `ends at ${tail}`,
    (error: FencelineError) => `${error.code}, side effects ${error.sideEffects}`,
  );

/** An opener of an empty log that died before it sent anything. */
async function withEmptySegment(w: LogWorld): Promise<void> {
  w.faults.hold({ client: "dead", port: "bookie", call: "add" });
  void w.client("dead").sending("lost with its sender");
  await w.idle();
}

describe("a sealed log", () => {
  test("takes no record, tells its end, and is sealed once however often it is asked (29)", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a", "b");
    const s = w.client("S", "west");
    expect(await w.run(sealing(s))).toBe("ends at 2");
    expect(await w.run(sealing(p))).toBe("ends at 2");
    expect(await w.run(sealing(s))).toBe("ends at 2");
    expect(await p.append("c")).toEqual(SEALED);
    expect(await w.client("Q", "north").append("c")).toEqual(SEALED);
    expect(await w.chain()).toMatchObject({ 2: "end" });
    const t = w.client("T", "north");
    expect(await t.answer(0)).toMatchObject({ next: 2, tail: 2, upToDate: true, sealed: true });
    expect(await t.answer(0, 1)).toMatchObject({ next: 1, sealed: false });
  });

  test("may be empty: END at 0, also over an empty segment's very item (24)", async () => {
    const empty = await LogWorld.make();
    expect(await empty.run(sealing(empty.client("S")))).toBe("ends at 0");
    expect(await empty.chain()).toEqual({ 0: "end" });
    expect(await empty.client("P").append("a")).toEqual(SEALED);
    const w = await LogWorld.make();
    await withEmptySegment(w);
    const replaced = (await w.chain())[0];
    expect(await w.run(sealing(w.client("S", "west")))).toBe("ends at 0");
    expect(await w.chain()).toEqual({ 0: "end" });
    expect(await w.ledgerState(replaced)).toBe("CLOSED");
    expect(await w.client("T").answer(0)).toMatchObject({ records: [], tail: 0, sealed: true });
  });

  test("that is not there, or being deleted, is log_not_found", async () => {
    const w = await LogWorld.make();
    const s = w.client("S", "west");
    await w.run(s.appends.seal(LOG));
    const item = (await w.world.metadata.get(logKey(w.log), "consistent"))?.item;
    if (item?.kind !== "log") throw new Error("no log item");
    await w.put(logKey(w.log), { ...item, state: "deleting" });
    expect(await w.run(sealing(s))).toBe("log_not_found, side effects none");
    expect(await w.client("T").readOrError(0)).toBe("log_not_found");
  });
});

test("T05 (29): an append that overtakes a sealer is in front of the end, not behind it", async () => {
  const w = await LogWorld.make();
  const s = w.faults.hold({ client: "S", call: "write", about: w.elections });
  const sealed = sealing(w.client("S", "west"));
  await w.idle();
  const p = w.client("P");
  expect(await p.append("p0")).toEqual(["at 0"]);
  s.release();
  expect(await w.run(sealed)).toBe("ends at 1");
  expect(await p.append("p1")).toEqual(SEALED);
  expect(await w.client("T", "north").answer(0)).toMatchObject({ next: 1, tail: 1, sealed: true });
});

test("T05 without rule 29: a flag in the log item, checked by every opener, leaves a log that goes on", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  expect(Object.keys(await w.chain())).toEqual([]); // What the sealer looks at: nothing there, an end at 0.
  expect(await p.append("p0")).toEqual(["at 0"]);
  const item = (await w.world.metadata.get(logKey(w.log), "consistent"))?.item;
  if (item?.kind !== "log") throw new Error("no log item");
  await w.put(logKey(w.log), { ...item, state: "deleting" });
  expect(await p.append("p1")).toEqual(["at 1"]);
  expect(await w.client("Q", "west").append("q")).toEqual(["log_not_found, side effects none"]);
});

describe("T06 (25, 29): a sealer thaws far below the trim point", () => {
  /** S is about to put its END at 0; meanwhile two segments came, and the first was trimmed away. */
  async function frozenSealer() {
    const w = await LogWorld.make(ONE_BATCH);
    const frozen = w.faults.hold({ client: "S", call: "write", about: w.elections });
    const sealed = sealing(w.client("S", "west"));
    await w.idle();
    const p = w.client("P");
    expect(await p.append("p0", "p1")).toEqual(["at 0", "at 1"]);
    await w.trim(1);
    expect(await w.audit()).toEqual([0]);
    return { w, p, frozen, sealed };
  }

  test("its END wins at 0 and ends nothing: it goes on to the tail", async () => {
    const { w, p, frozen, sealed } = await frozenSealer();
    frozen.release();
    expect(await w.run(sealed)).toBe("ends at 2");
    expect(Object.entries(await w.chain()).filter(([, item]) => item === "end")).toHaveLength(2);
    expect(await p.append("p2")).toEqual(SEALED);
    expect(await w.client("T", "north").answer(1)).toMatchObject({ next: 2, tail: 2, sealed: true });
    expect(await w.audit()).toEqual([0]);
    expect(Object.keys(await w.chain())).toEqual(["1", "2"]);
  });

  test("without the check it would say 'sealed' of a log that goes on", async () => {
    const { w, p } = await frozenSealer();
    await w.put(segmentKey(w.log, seqNum(0)), { kind: "end", number: segmentNumber(1) });
    expect(await p.append("p2")).toEqual(["at 2"]);
  });

  test("T07 (33c): a reader at the END below the trim point is told 'trimmed', not 'end of log'", async () => {
    const { w, p, frozen, sealed } = await frozenSealer();
    const check = w.faults.hold({ client: "S", call: "get", about: logKey(w.log).partition });
    frozen.release();
    await w.idle();
    expect((await w.chain())[0]).toBe("end");
    const t = w.client("T", "north");
    expect(await t.readOrError(0)).toBe("position_trimmed");
    expect(await t.answer(1)).toMatchObject({ next: 2, tail: 2, sealed: false });
    expect(await p.append("p2")).toEqual(["at 2"]);
    check.release();
    expect(await w.run(sealed)).toBe("ends at 3");
  });
});

describe("a sealer and an opener race for one key (24)", () => {
  async function race() {
    const w = await LogWorld.make(ONE_BATCH);
    await w.client("P").append("p0");
    const s = w.faults.hold({ client: "S", call: "write", about: w.elections });
    const q = w.faults.hold({ client: "Q", call: "write", about: w.elections });
    const sealed = sealing(w.client("S", "west"));
    const sent = w.client("Q", "north").sending("q");
    await w.idle();
    return { w, s, q, sealed, sent };
  }

  test("the opener wins: its record is in front of the end", async () => {
    const { w, s, q, sealed, sent } = await race();
    q.release();
    expect(await w.run(sent)).toEqual(["at 1"]);
    s.release();
    expect(await w.run(sealed)).toBe("ends at 2");
  });

  test("the sealer wins: the append is refused and its ledger abandoned", async () => {
    const { w, s, q, sealed, sent } = await race();
    s.release();
    expect(await w.run(sealed)).toBe("ends at 1");
    q.release();
    expect(await w.run(sent)).toEqual(SEALED);
    const abandoned = w.world.trace.filter((event) => event.event === "ledger-abandoned");
    expect(abandoned).toHaveLength(1);
    expect(await w.client("T").answer(0)).toMatchObject({ next: 1, tail: 1, sealed: true });
  });

  test("over one empty segment: whoever comes second finds the item changed", async () => {
    for (const first of ["S", "Q"]) {
      const w = await LogWorld.make();
      await withEmptySegment(w);
      const held = ["S", "Q"].map((client) => w.faults.hold({ client, call: "write", about: w.elections }));
      const sealed = sealing(w.client("S", "west"));
      const sent = w.client("Q", "north").sending("q");
      await w.idle();
      held[first === "S" ? 0 : 1]?.release();
      await w.run(Promise.race(first === "S" ? [sealed] : [sent]));
      for (const one of held) one.release();
      const outcome = [await w.run(sealed), ...(await w.run(sent))];
      expect(outcome).toEqual(first === "S" ? ["ends at 0", ...SEALED] : ["ends at 1", "at 0"]);
    }
  });
});

test("two seal at once: one END, one end", async () => {
  const w = await LogWorld.make();
  await w.client("P").append("p0");
  const held = ["S", "R"].map((client) => w.faults.hold({ client, call: "write", about: w.elections }));
  const both = Promise.all([sealing(w.client("S", "west")), sealing(w.client("R", "north"))]);
  await w.idle();
  for (const one of held) one.release();
  expect(await w.run(both)).toEqual(["ends at 1", "ends at 1"]);
  expect(Object.keys(await w.chain())).toEqual(["0", "1"]);
});

describe.each(["before", "after"] as const)("a call of a seal fails %s its effect", (moment) => {
  test("whichever it is: sealed if that was said, no side effects if it is not, and once in the end", async () => {
    let said = 0;
    for (let failing = 0; ; failing++) {
      const w = await LogWorld.make();
      await w.client("P").append("p0");
      let count = 0;
      w.faults.at({ client: "S", port: "metadata" }, moment, Number.POSITIVE_INFINITY, () => {
        if (count++ === failing) throw new Error("lost");
      });
      const first = await w.run(sealing(w.client("S", "west")));
      if (first === "ends at 1") said += 1;
      const stands = (await w.chain())[1] === "end";
      if (first.endsWith("none")) expect(stands).toBe(false);
      if (first === "ends at 1") expect(stands).toBe(true);
      expect(await w.run(sealing(w.client("S2", "north")))).toBe("ends at 1");
      expect(await w.client("Q").append("q")).toEqual(SEALED);
      expect(await w.client("T").answer(0)).toMatchObject({ next: 1, tail: 1, sealed: true });
      if (count <= failing) break;
    }
    expect(said).toBeGreaterThan(5);
  });
});
