/** A ledger is created once, on an ensemble that placement chose, or not at all. */
import { describe, expect, test } from "vitest";
import { bookieId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { failure } from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const writing = { client: "W", port: "metadata", call: "write" } as const;

async function creating(bookies = ["B0", "B1", "B2", "B3"]) {
  const w = await World.make({ bookies, quorums: [3, 3, 2] });
  const ports = w.ports("W");
  const request = { replication: w.replication, digest: w.digest };
  const create = (avoid: readonly string[] = []) =>
    w.run(createLedger(ports, { ...request, avoid: new Set(avoid.map(bookieId)) }));
  const ensemble = async (avoid: readonly string[] = []) =>
    (await create(avoid)).item.fragments.flatMap((one) => one.ensemble.map((member) => String(member.id)));
  return { w, ports, create, ensemble };
}

describe("createLedger", () => {
  test("stores an OPEN ledger under a random id, and says when (rule 15)", async () => {
    const { w, create } = await creating();
    const before = w.clock.nowMs();
    const ledger = await create();
    expect(ledger).toMatchObject({ item: { state: "OPEN", retired: [] } });
    expect(ledger.readAt?.ms).toBe(w.clock.nowMs() - before);
    const stored = await w.metadata.get(ledgerKey(ledger.item.ledgerId), "consistent");
    expect(stored).toEqual({ key: ledger.key, item: ledger.item, version: ledger.version });
    expect((await create()).item.ledgerId).not.toBe(ledger.item.ledgerId);
  });

  test.each(["before", "after"] as const)(
    "a reply lost %s the effect: created once (UPD2)",
    async (moment) => {
      const { w, create } = await creating();
      w.faults.fail(writing, moment, 1);
      const ledger = await create();
      const created = w.trace.filter((event) => event.event === "ledger-created");
      expect(created.length).toBe(1);
      expect(created[0]).toMatchObject({ ledgerId: ledger.item.ledgerId });
      expect(w.faults.count(writing)).toBe(moment === "before" ? 2 : 1);
    },
  );

  test("an id that is taken is left alone, and another one is drawn", async () => {
    const { w, ports, create } = await creating();
    const taken = await create();
    const high = Math.floor(taken.item.ledgerId / 2 ** 32);
    const draws = [high * 2 ** 11, taken.item.ledgerId % 2 ** 32];
    const random = { uint32: () => draws.shift() ?? ports.random.uint32() };
    const request = { replication: w.replication, digest: w.digest };
    const other = await w.run(createLedger({ ...ports, random }, request));
    expect(draws.length).toBe(0);
    expect(other.item.ledgerId).not.toBe(taken.item.ledgerId);
    const still = await w.metadata.get(ledgerKey(taken.item.ledgerId), "consistent");
    expect(still?.version).toEqual(taken.version);
  });

  test("bookies to avoid, and suspects, are used only if there is no ensemble without them", async () => {
    const { w, ports, ensemble } = await creating();
    expect(await ensemble()).toEqual(["B0", "B1", "B2"]);
    expect(await ensemble(["B1"])).toEqual(["B0", "B2", "B3"]);
    expect(await ensemble(["B1", "B2"])).toEqual(["B0", "B3", "B1"]);
    ports.health.of(bookieId("B0")).callFailed();
    expect(await ensemble()).toEqual(["B1", "B2", "B3"]);
    await w.clock.advance(60_000);
    expect(await ensemble()).toEqual(["B0", "B1", "B2"]);
  });

  test("too few bookies: refused, nothing was written", async () => {
    const { w, create } = await creating(["B0", "B1"]);
    await expect(create()).rejects.toMatchObject({ code: "insufficient_regions", sideEffects: "none" });
    expect(w.faults.count(writing)).toBe(0);
  });

  test("silent metadata: unavailable, and whether it was created is not known", async () => {
    const { w, create } = await creating();
    w.faults.at(writing, "after", 1, () => {
      w.faults.fail({ client: "W", port: "metadata" });
      throw new Error("the reply is lost");
    });
    await expect(create()).rejects.toMatchObject({ code: "unavailable", sideEffects: "possible" });
    expect(await failure(create())).toBe("unavailable");
  });
});
