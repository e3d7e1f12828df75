/** Stories of trimming and of the auditor (rules 30, 31). */
import { describe, expect, test } from "vitest";
import type { FencelineError } from "../../../lib/protocol/errors.ts";
import { seqNum } from "../../../lib/protocol/ids.ts";
import { logKey, segmentKey } from "../../../lib/protocol/items.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LOG, type LogClient, LogWorld } from "./log-world.ts";

/** Every segment is full after one batch. */
const ONE_BATCH = { segmentBytesMax: 1 };

const trimming = (client: LogClient, to: number): Promise<string> =>
  client.appends.trim(LOG, to as never).then(
    (trimPoint) => `trimmed to ${trimPoint}`,
    (error: FencelineError) => `${error.code}, side effects ${error.sideEffects}`,
  );

async function trimPoint(w: LogWorld): Promise<number> {
  const item = (await w.world.metadata.get(logKey(w.log), "consistent"))?.item;
  if (item?.kind !== "log") throw new Error("no log item");
  return item.trimPoint;
}

describe("the trim point (30)", () => {
  test("moves forward only, up to the tail, and nothing beyond it is taken", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    expect(await w.run(trimming(p, 0))).toBe("trimmed to 0");
    expect(await w.run(trimming(p, 1))).toBe("position_unwritten, side effects none");
    await p.append("a", "b", "c");
    const q = w.client("Q", "west");
    expect(await w.run(trimming(q, 2))).toBe("trimmed to 2");
    expect(await w.run(trimming(q, 1))).toBe("trimmed to 2");
    const beyond = await w.run(q.appends.trim(LOG, seqNum(4)).catch((error: FencelineError) => error));
    expect(beyond).toMatchObject({ code: "position_unwritten", details: { tail: 3 } });
    expect(await w.run(trimming(q, 3))).toBe("trimmed to 3");
    expect(await p.append("d")).toEqual(["at 3"]);
    expect(await w.client("R", "north").append("e")).toEqual(["at 4"]);
    for (const bad of [-1, 1.5, Number.NaN, 2 ** 53]) {
      expect(await w.run(trimming(q, bad))).toBe("invalid_request, side effects none");
    }
    expect(await trimPoint(w)).toBe(3);
  });

  test("of two that trim at once the further one stands", async () => {
    for (const last of ["P", "Q"]) {
      const w = await LogWorld.make();
      await w.client("P").append("a", "b", "c");
      const about = logKey(w.log).partition;
      const held = w.faults.hold({ client: last, call: "write", about });
      const both = [trimming(w.client("P"), 1), trimming(w.client("Q", "west"), 3)];
      await w.idle();
      held.release();
      await w.run(Promise.all(both));
      expect(await trimPoint(w)).toBe(3);
    }
  });

  test("counts a record that a strong read returned, and one whose bookies are down is settled", async () => {
    const w = await LogWorld.make();
    w.faults.fail({ client: "P", port: "bookie", call: "add", target: "B2", about: 1 });
    expect(await w.client("P").append("a", "b")).toEqual(["at 0", "at 1"]);
    w.faults.fail({ client: "Q", port: "bookie", target: "B0" });
    expect(await w.run(trimming(w.client("Q", "west"), 2))).toBe("trimmed to 2");
  });

  test("of a sealed log may be its end", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a", "b");
    await w.run(p.appends.seal(LOG));
    expect(await w.run(trimming(p, 3))).toBe("position_unwritten, side effects none");
    expect(await w.run(trimming(p, 2))).toBe("trimmed to 2");
    expect(await w.audit()).toEqual([0]);
    expect(await w.chain()).toEqual({ 2: "end" });
    const t = w.client("T", "west");
    expect(await t.readOrError(1)).toBe("position_trimmed");
    expect(await t.answer(2)).toMatchObject({ records: [], tail: 2, sealed: true });
  });

  test("of a log that is being deleted is not moved", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a", "b");
    await w.run(p.appends.seal(LOG));
    const item = (await w.world.metadata.get(logKey(w.log), "consistent"))?.item;
    if (item?.kind !== "log") throw new Error("no log item");
    await w.put(logKey(w.log), { ...item, state: "deleting" });
    expect(await w.run(trimming(p, 1))).toBe("log_not_found, side effects none");
    expect(await trimPoint(w)).toBe(0);
  });

  test(
    "whichever call of a trim is lost, before or after its effect: forward, and as asked in the end",
    EXHAUSTIVE,
    async () => {
      for (const moment of ["before", "after"] as const) {
        for (let failing = 0; ; failing++) {
          const w = await LogWorld.make();
          await w.client("P").append("a", "b", "c");
          let count = 0;
          w.faults.at({ client: "Q", port: "metadata" }, moment, Number.POSITIVE_INFINITY, () => {
            if (count++ === failing) throw new Error("lost");
          });
          const first = await w.run(trimming(w.client("Q", "west"), 2));
          if (first === "trimmed to 2") expect(await trimPoint(w)).toBe(2);
          if (first.endsWith("none")) expect(await trimPoint(w)).toBe(0);
          expect(await w.run(trimming(w.client("R", "north"), 2))).toBe("trimmed to 2");
          if (count <= failing) break;
        }
      }
    },
  );
});

describe("T02 (31): an owner froze in its roll, everything is trimmed, its closed segment is the last", () => {
  async function trimmedToTheTail() {
    const w = await LogWorld.make(ONE_BATCH);
    const p = w.client("P");
    expect(await p.append("p0")).toEqual(["at 0"]);
    const frozen = w.faults.hold({ client: "P", call: "write", about: w.elections });
    const rolled = p.sending("p1");
    await w.idle();
    expect(await w.ledgerState((await w.chain())[0])).toBe("CLOSED");
    await w.trim(1);
    return { w, frozen, rolled };
  }

  test("the auditor leaves it, and the next record gets the next number", async () => {
    const { w, frozen, rolled } = await trimmedToTheTail();
    expect(await w.audit()).toEqual([]);
    expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
    expect(await w.audit()).toEqual([0]);
    frozen.release();
    expect(await w.run(rolled)).toEqual(["at 2"]);
    expect(await w.client("T", "north").read(1)).toEqual(["q", "p1"]);
  });

  test("without the rule the end is forgotten: only rule 25 keeps away a second record 0, and all others", async () => {
    const { w } = await trimmedToTheTail();
    await w.removeItem(segmentKey(w.log, seqNum(0)));
    expect(await w.client("Q", "west").append("q")).toEqual(["not_ready, side effects none"]);
  });
});

describe("the auditor (31)", () => {
  test("removes what lies below the segment that holds the trim point, and its ledgers are DELETED", async () => {
    const w = await LogWorld.make(ONE_BATCH);
    const p = w.client("P");
    const batches = [["a", "b"], ["c", "d"], ["e"]];
    for (const batch of batches) await w.run(p.sendingBatch(batch));
    const before = await w.chain();
    expect(Object.keys(before)).toEqual(["0", "2", "4"]);
    const t = w.client("T", "west");
    for (const [to, removed, left] of [
      [1, [], ["0", "2", "4"]],
      [2, [0], ["2", "4"]],
      [3, [], ["2", "4"]],
      [5, [2], ["4"]],
    ] as const) {
      await w.trim(to);
      expect(await w.audit()).toEqual(removed);
      expect(await w.audit()).toEqual([]);
      expect(Object.keys(await w.chain())).toEqual(left);
    }
    expect(await w.ledgerState(before[0])).toBe("DELETED");
    expect(await w.ledgerState(before[4])).toBe("OPEN");
    expect(await t.readOrError(3)).toBe("position_trimmed");
    expect(await t.answer(4)).toMatchObject({ next: 5, tail: 5, upToDate: true });
    expect(await p.append("f")).toEqual(["at 5"]);
  });

  test(
    "two at once, whichever call of one is lost: nothing more goes, and all of it in the end",
    EXHAUSTIVE,
    async () => {
      for (const moment of ["before", "after"] as const) {
        for (let failing = 0; ; failing++) {
          const w = await LogWorld.make(ONE_BATCH);
          const p = w.client("P");
          await p.append("a", "b", "c");
          const ids = Object.values(await w.chain());
          await w.trim(2);
          let count = 0;
          w.faults.at({ client: "auditor", port: "metadata" }, moment, Number.POSITIVE_INFINITY, () => {
            if (count++ === failing) throw new Error("lost");
          });
          const unlucky = w.audit().catch(() => undefined);
          await Promise.all([unlucky, w.audit("another auditor")]);
          await w.audit("another auditor");
          expect(Object.keys(await w.chain())).toEqual(["2"]);
          expect(await Promise.all(ids.map((id) => w.ledgerState(id)))).toEqual([
            "DELETED",
            "DELETED",
            expect.stringMatching("OPEN|CLOSED"),
          ]);
          expect(await p.append("d")).toEqual(["at 3"]);
          expect(await w.client("T", "west").read(2)).toEqual(["c", "d"]);
          if (count <= failing) break;
        }
      }
    },
  );

  test("a reader that is in a segment when it goes is told 'trimmed', or reads on behind it", async () => {
    const w = await LogWorld.make(ONE_BATCH);
    await w.client("P").append("a", "b", "c");
    const t = w.client("T", "west");
    expect(await t.read(0)).toEqual(["a", "b", "c"]);
    await w.trim(2);
    expect(await w.audit()).toEqual([0, 1]);
    for (const from of [0, 1]) expect(await t.readOrError(from)).toMatch(/trimmed/);
    expect(await t.read(2)).toEqual(["c"]);
  });
});
