/** Stories of the collector of ledgers that no item names (rule 32). */

import { describe, expect, test } from "vitest";
import { type LedgerId, ledgerId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { markDeleted } from "../../../lib/protocol/ledger/end-ledger.ts";
import { recoverLedger } from "../../../lib/protocol/ledger/recover-ledger.ts";
import { type CollectAnswer, collectUnnamed } from "../../../lib/protocol/log/upkeep/audit-ledger.ts";
import { LogWorld } from "./log-world.ts";

/** P has created its ledger and freezes before its put. */
async function frozenOpener() {
  const w = await LogWorld.make();
  const frozen = w.faults.hold({ client: "P", call: "write", about: w.elections });
  const late = w.client("P").sending("p");
  await w.idle();
  return { w, frozen, late, id: lastCreated(w) };
}

function lastCreated(w: LogWorld): LedgerId {
  const created = w.world.trace.filter((event) => event.event === "ledger-created").at(-1);
  if (created?.event !== "ledger-created") throw new Error("no ledger was created");
  return created.ledgerId;
}

const collecting = (w: LogWorld, id: LedgerId): Promise<CollectAnswer> =>
  collectUnnamed(w.world.ports("collector", "north"), id);

describe("T09 (32): a ledger that no item names, and its owner is merely frozen", () => {
  test("is closed and collected; its owner wins with it, is fenced, and starts again", async () => {
    const { w, frozen, late, id } = await frozenOpener();
    expect(await w.run(collecting(w, id))).toBe("collected");
    expect(await w.ledgerState(id)).toBe("DELETED");
    frozen.release();
    expect(await w.run(late)).toEqual(["at 0"]);
    expect((await w.chain())[0]).not.toBe(id);
    expect(await w.client("T", "west").read(0)).toEqual(["p"]);
  });

  test("is left if the owner won and wrote between the look and the close", async () => {
    const { w, frozen, late, id } = await frozenOpener();
    const look = w.faults.hold({ client: "collector", call: "get", about: w.elections }, "after", 1);
    const collected = collecting(w, id);
    await w.idle();
    expect(look.calls).toHaveLength(1);
    frozen.release();
    expect(await w.run(late)).toEqual(["at 0"]);
    look.release();
    expect(await w.run(collected)).toBe("named");
    expect(await w.ledgerState(id)).toBe("CLOSED");
    expect(await w.client("T", "west").read(0)).toEqual(["p"]);
    expect(await w.client("P").append("p1")).toEqual(["at 1"]);
  });

  test("collected by what was seen before the close, an acknowledged record is lost", async () => {
    const { w, frozen, late, id } = await frozenOpener();
    expect(Object.values(await w.chain())).not.toContain(id);
    frozen.release();
    expect(await w.run(late)).toEqual(["at 0"]);
    const hasty = w.world.ports("collector", "north");
    await w.run(recoverLedger(hasty, id));
    await w.run(markDeleted(hasty, id));
    expect(await w.client("T", "west").readOrError(0)).not.toEqual(["p"]);
    expect(await w.client("Q", "west").append("q")).toEqual(["data_corrupt, side effects none"]);
  });

  test("wherever the collector is when the owner thaws: the record is there once", async () => {
    let answers = "";
    for (let held = 0; ; held++) {
      const { w, frozen, late, id } = await frozenOpener();
      let count = 0;
      w.faults.at({ client: "collector", port: "metadata" }, "before", Number.POSITIVE_INFINITY, async () => {
        if (count++ !== held) return;
        frozen.release();
        await late;
      });
      const answer = await w.run(collecting(w, id));
      answers += ` ${answer}`;
      frozen.release();
      expect(await w.run(late)).toEqual(["at 0"]);
      expect(await w.client("T", "west").read(0)).toEqual(["p"]);
      expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
      if (count <= held) break;
    }
    expect(answers).toContain("collected");
    expect(answers).toContain("named");
  });
});

describe("the collector", () => {
  test("leaves the ledgers of segments, open and closed, and touches none of them", async () => {
    const w = await LogWorld.make({ segmentBytesMax: 1 });
    await w.client("P").append("a", "b");
    const ids = Object.values(await w.chain()) as LedgerId[];
    for (const id of ids) expect(await w.run(collecting(w, id))).toBe("named");
    expect(await Promise.all(ids.map((id) => w.ledgerState(id)))).toEqual(["CLOSED", "OPEN"]);
  });

  test("takes what an opener left that died before its put, of a deleted log too, and again", async () => {
    const { w, id } = await frozenOpener();
    await w.deleteAndCreateAgain();
    for (let time = 0; time < 2; time++) expect(await w.run(collecting(w, id))).toBe("collected");
    expect(await w.ledgerState(id)).toBe("DELETED");
  });

  test("leaves what is no log's, and says if there is no such ledger", async () => {
    const w = await LogWorld.make();
    const { replication } = w.config;
    const made = createLedger(w.world.ports("user"), { replication, digest: { type: "crc32" } });
    const { ledgerId: id } = (await w.run(made)).item;
    expect(await w.run(collecting(w, id))).toBe("no-segment");
    expect(await w.ledgerState(id)).toBe("OPEN");
    expect(await w.run(collecting(w, ledgerId(12_345)))).toBe("missing");
  });

  test("two at once, and whichever call of one is lost: collected in the end", async () => {
    for (const moment of ["before", "after"] as const) {
      for (let failing = 0; ; failing++) {
        const { w, frozen, late, id } = await frozenOpener();
        let count = 0;
        w.faults.at({ client: "collector", port: "metadata" }, moment, Number.POSITIVE_INFINITY, () => {
          if (count++ === failing) throw new Error("lost");
        });
        const both = [collecting(w, id).catch(() => undefined), collectUnnamed(w.world.ports("other"), id)];
        await w.run(Promise.all(both));
        expect(await w.ledgerState(id)).toBe("DELETED");
        frozen.release();
        expect(await w.run(late)).toEqual(["at 0"]);
        if (count <= failing) break;
      }
    }
  });
});

test("27, 32: a ledger that its opener could not abandon is the collector's", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  w.faults.fail({ client: "P", call: "write", about: w.elections });
  w.faults.at({ client: "P", port: "bookie" }, "before", Number.POSITIVE_INFINITY, () => {
    throw new Error("lost");
  });
  await p.append("p");
  const id = lastCreated(w);
  expect(await w.ledgerState(id)).not.toBe("DELETED");
  expect(await w.run(collecting(w, id))).toBe("collected");
  expect((await w.world.metadata.get(ledgerKey(id), "consistent"))?.item).toMatchObject({ lastEntry: -1 });
});
