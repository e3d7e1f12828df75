/** Stories of the auditor: what it recovers, collects and brings home, and what it leaves alone. */
import { describe, expect, test } from "vitest";
import { composeRegion } from "../../../lib/protocol/compose-region.ts";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { type LedgerId, ledgerId, region } from "../../../lib/protocol/ids.ts";
import { DIRECTORY_SHARDS, ledgerListingKey } from "../../../lib/protocol/items.ts";
import { createLedger } from "../../../lib/protocol/ledger/create-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { auditLedger } from "../../../lib/protocol/log/upkeep/audit-ledger.ts";
import { auditLimits } from "../../../lib/protocol/log/upkeep/audit-limits.ts";
import type { RegionState } from "../../../lib/protocol/replication.ts";
import { LOG, type LogClient, LogWorld } from "./log-world.ts";

const east = region("east");

async function world(fields: { readonly segmentBytesMax?: number } = {}) {
  const w = await LogWorld.make({ leases: true, forwarding: true, ...fields });
  const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
  return { w, p, q };
}

/** A fresh process of that region's auditor: passes until the whole list was seen. */
async function audit(w: LogWorld, where = "east", name = `A-${where}`) {
  const { auditor } = w.client(name, where);
  return await w.run(auditor.pass());
}

const states = async (w: LogWorld) =>
  await Promise.all(Object.values(await w.chain()).map((id) => w.ledgerState(id)));

const listed = async (w: LogWorld, id: LedgerId, where = east) =>
  (await w.world.metadata.get(ledgerListingKey(where, id), "consistent"))?.item;

const old = (w: LogWorld) => w.world.clock.jump(auditLimits.ageMs);

const recoveries = (w: LogWorld) =>
  w.world.trace.filter((event) => event.event === "recovery-started").length;

async function ids(w: LogWorld): Promise<LedgerId[]> {
  return Object.values(await w.chain()).filter((id): id is LedgerId => id !== "end");
}

describe("open ledgers", () => {
  test("an idle log that was left clean is in health, however old: the next one goes on in it", async () => {
    const { w, p } = await world();
    await p.append("a");
    await p.release();
    w.world.clock.jump(3_600_000);
    expect(await audit(w)).toMatchObject({ ledgers: 1, verdicts: { healthy: 1 }, failures: 0 });
    expect(await states(w)).toEqual(["OPEN"]);
    expect(await p.append("b")).toEqual(["at 1"]);
    expect(recoveries(w)).toBe(0);
  });

  test("one whose holder works is left alone", async () => {
    const { w, p } = await world();
    await p.append("a");
    old(w);
    await p.append("b");
    expect(await audit(w)).toMatchObject({ verdicts: { healthy: 1 } });
    expect(await states(w)).toEqual(["OPEN"]);
  });

  test("an auditor that freezes behind its look at a lease does not call it expired when it thaws", async () => {
    const { w, p } = await world();
    await p.append("a");
    old(w);
    await p.append("b");
    const look = w.faults.hold({ client: "A-east", port: "lease", call: "read" }, "after");
    const [id] = await ids(w);
    const listing = await listed(w, id ?? ledgerId(0));
    if (listing?.kind !== "ledger-listing") throw new Error("its ledger is not listed");
    const judged = auditLedger(w.client("A-east", "east").ports, listing);
    await w.idle();
    w.world.clock.jump(auditLimits.leaseExpiredMs * 2);
    look.release();
    expect(["healthy", "later"]).toContain(await w.run(judged));
    expect(await states(w)).toEqual(["OPEN"]);
  });

  test("behind a dirty lease that expired long ago it is recovered: the tail can be read at once", async () => {
    const { w, p, q } = await world();
    await p.append("a");
    w.world.clock.jump(auditLimits.ageMs - 1);
    expect(await audit(w)).toMatchObject({ verdicts: { young: 1 } });
    w.world.clock.jump(1);
    expect(await audit(w)).toMatchObject({ verdicts: { recovered: 1 } });
    expect(await states(w)).toEqual(["CLOSED"]);
    expect(await p.append("b")).toEqual(["at 1"]);
    expect(await q.read(0)).toEqual(["a", "b"]);
  });

  test("without the lease table nothing is known of its writer, and nothing is done", async () => {
    const { w, p } = await world();
    await p.append("a");
    old(w);
    w.faults.fail({ client: "A-east", port: "lease" });
    expect(await audit(w)).toMatchObject({ verdicts: { later: 1 } });
    expect(await states(w)).toEqual(["OPEN"]);
  });

  test("IN_RECOVERY, and its recoverer gone: it is recovered", async () => {
    const { w, p } = await world();
    await p.append("a");
    const [id = ledgerId(0)] = await ids(w);
    w.faults.fail({ client: "R", port: "bookie" });
    await w.run(
      w
        .client("R", "west")
        .appends.recoverLedger(id)
        .catch(() => undefined),
    );
    expect(await states(w)).toEqual(["IN_RECOVERY"]);
    old(w);
    expect(await audit(w)).toMatchObject({ verdicts: { recovered: 1 } });
    expect(await states(w)).toEqual(["CLOSED"]);
  });
});

describe("ledgers that are in nobody's way any more", () => {
  test("32: an orphan, whose opener died before its election, is closed and collected, and in time forgotten", async () => {
    const { w, p } = await world();
    await p.append("a");
    const orphan = await w.run(
      createLedger(w.client("D", "east").ports, {
        replication: w.config.replication,
        digest: { type: "crc32" },
        origin: { log: w.log, firstSeqNum: 0 as never, ownerRegion: east },
      }),
    );
    const id = orphan.item.ledgerId;
    expect(await audit(w)).toMatchObject({ verdicts: { young: 2 } });
    old(w);
    await p.append("b");
    expect(await audit(w)).toMatchObject({ verdicts: { healthy: 1, collected: 1 } });
    expect(await w.ledgerState(id)).toBe("DELETED");
    await p.append("c");
    expect(await audit(w)).toMatchObject({ verdicts: { healthy: 1, swept: 1 } });
    expect(await listed(w, id)).toMatchObject({ sweptAtMs: w.world.clock.nowMs() });
    await p.release();
    w.world.clock.jump(limits.sealAgeMs - 1);
    expect(await audit(w)).toMatchObject({ verdicts: { healthy: 2 } });
    w.world.clock.jump(1);
    expect(await audit(w)).toMatchObject({ verdicts: { healthy: 1, forgotten: 1 } });
    expect([await w.ledgerState(id), await listed(w, id)]).toEqual(["missing", undefined]);
    expect(await p.append("d")).toEqual(["at 3"]);
  });

  test("15, 31: what was trimmed leaves the chain, then the bookies, and after the seal age the metadata", async () => {
    const { w, p, q } = await world({ segmentBytesMax: 1 });
    await p.append("a", "b", "c");
    await p.release();
    const [first = ledgerId(0)] = await ids(w);
    await w.trim(2);
    expect(await audit(w)).toMatchObject({ segmentsRemoved: 2, failures: 0 });
    expect(await w.ledgerState(first)).toBe("DELETED");
    old(w);
    expect((await audit(w)).verdicts).toMatchObject({ swept: 2 });
    const slot = { kind: "slot", ledgerId: first, entryId: 0 as never } as const;
    for (const bookie of ["B0", "B1", "B2", "B3"]) {
      expect((await w.world.store(bookie).get(slot))?.kind).not.toBe("original");
    }
    w.world.clock.jump(limits.sealAgeMs);
    expect((await audit(w)).verdicts).toMatchObject({ forgotten: 2 });
    expect(await listed(w, first)).toBeUndefined();
    expect(await q.read(2)).toEqual(["c"]);
  });

  test("15: while a bookie is silent the entries stay to be collected, and so does the listing", async () => {
    const { w, p } = await world({ segmentBytesMax: 1 });
    await p.append("a", "b");
    await p.release();
    await w.trim(1);
    await audit(w);
    old(w);
    const end = w.faults.fail({ client: "A-east", port: "bookie", call: "deleteEntries", target: "B0" });
    expect((await audit(w)).verdicts).toMatchObject({ later: 1 });
    end();
    expect((await audit(w)).verdicts).toMatchObject({ swept: 1 });
  });

  test("29: what a zombie put into a deleted log is found by its ledger, long after the name was released", async () => {
    const { w } = await world();
    const z = w.client("Z", "east");
    const held = w.faults.hold({ client: "Z", port: "metadata", call: "write", about: w.elections });
    const late = z.sending("late");
    await w.idle();
    const former = await w.deleteAndCreateAgain();
    held.release();
    await w.run(late);
    old(w);
    const chain = Object.values(await w.chain(former)).filter((one) => one !== "end");
    expect(await audit(w)).toMatchObject({ failures: 0 });
    await audit(w);
    expect(Object.values(await w.chain(former)).filter((one) => one !== "end")).toEqual([]);
    for (const id of chain) expect(await w.ledgerState(id)).toBe("DELETED");
  });
});

test("29: a deletion that was left half way is finished, and the name is free", async () => {
  const { w, p, q } = await world();
  await p.append("a");
  await p.release();
  const end = w.faults.fail({ client: "Q", port: "metadata", call: "remove" });
  expect(await w.run(q.appends.deleteLog(LOG))).toBe("deleting");
  end();
  expect(await audit(w)).toMatchObject({ deleted: 1, failures: 0 });
  await w.createAgain();
  expect(await w.client("P2", "east").append("b")).toEqual(["at 0"]);
});

test("AU4: what a lost region left is looked after by the others, and only if it is called lost", async () => {
  const { w, p } = await world({ segmentBytesMax: 1 });
  await p.append("a", "b");
  await w.trim(1);
  old(w);
  const { ports, auditor } = w.client("A", "north");
  const saying = (state: RegionState) => {
    ports.topology.states = () => ({ bookies: new Map(), regions: new Map([[east, state]]) });
  };
  saying("draining");
  expect(await w.run(auditor.pass())).toMatchObject({ ledgers: 0, segmentsRemoved: 0 });
  saying("lost");
  expect(await w.run(auditor.pass())).toMatchObject({ ledgers: 2, segmentsRemoved: 1, failures: 0 });
  expect(await states(w)).toEqual(["CLOSED"]);
});

describe("a log with a preferred region", () => {
  async function ownedByWest() {
    const { w, p, q } = await world();
    await p.append("a");
    await w.run(p.appends.preferRegion(LOG, east));
    await w.run(q.appends.transferOwner(LOG, region("west")));
    return { w, p, q };
  }
  const owner = async (client: LogClient, w: LogWorld) => (await w.run(client.reads.owner(LOG))).owner;

  test("comes home after a while, cleanly, by its own region's auditor and no other", async () => {
    const { w, p, q } = await ownedByWest();
    expect(await audit(w)).toMatchObject({ returned: 0 });
    w.world.clock.jump(auditLimits.preferReturnMs);
    expect(await audit(w, "north")).toMatchObject({ returned: 0 });
    expect(await owner(q, w)).toBe("west");
    expect(await audit(w)).toMatchObject({ returned: 1, failures: 0 });
    expect(await owner(q, w)).toBe("east");
    expect(recoveries(w)).toBe(0);
    expect(await q.append("b")).toEqual(["at 1"]);
    expect(await p.append("c")).toEqual(["at 2"]);
    expect(await audit(w)).toMatchObject({ returned: 0 });
  });

  test("comes home also if it rolls all the time", async () => {
    const { w, p, q } = await world({ segmentBytesMax: 1 });
    await p.append("a");
    await w.run(p.appends.preferRegion(LOG, east));
    await w.run(q.appends.transferOwner(LOG, region("west")));
    let returned = 0;
    for (let s = 0; s < 90; s += 10) {
      await q.append("b", "c"); // each a segment
      w.world.clock.jump(10_000);
      returned += (await audit(w)).returned;
      if (s < 50) expect(returned).toBe(0);
    }
    expect(returned).toBe(1);
    expect(await owner(q, w)).toBe("east");
  });

  test("does not flap: taken over again and again, it comes home once in a while at most", async () => {
    const { w, p, q } = await ownedByWest();
    let returned = 0;
    for (let s = 0; s < 180; s += 10) {
      w.world.clock.jump(10_000);
      const { returned: now } = await audit(w, "east", `A${s}`);
      returned += now;
      if (now > 0) await w.run(p.appends.transferOwner(LOG, region("west")));
    }
    expect(returned).toBeGreaterThan(0);
    expect(returned).toBeLessThanOrEqual(180_000 / auditLimits.preferReturnMs);
    expect(await q.read(0)).toEqual(["a"]);
  });

  test("that was at home for a moment, and empty there, counts as moved again", async () => {
    const { w, p, q } = await ownedByWest();
    expect(await q.append("b")).toEqual(["at 1"]);
    w.world.clock.jump(auditLimits.preferReturnMs);
    expect(await audit(w)).toMatchObject({ returned: 1 });
    await w.run(p.appends.transferOwner(LOG, region("west")));
    expect(await audit(w, "east", "A2")).toMatchObject({ returned: 0 });
    w.world.clock.jump(auditLimits.preferReturnMs);
    expect(await audit(w, "east", "A3")).toMatchObject({ returned: 1 });
  });

  test("stays away from a region that is draining", async () => {
    const { w } = await ownedByWest();
    w.world.clock.jump(auditLimits.preferReturnMs);
    const { ports, auditor } = w.client("A-east", "east");
    ports.topology.states = () => ({ bookies: new Map(), regions: new Map([[east, "draining" as const]]) });
    expect(await w.run(auditor.pass())).toMatchObject({ returned: 0 });
  });
});

test("AU1, AU2: a pass is bounded, and the next one goes on where it ended; a failure stops nothing else", async () => {
  const { w } = await world();
  const { auditor } = w.client("A", "east");
  const count = 40;
  const seen = new Set<string>();
  for (let id = 0; id < count; id++) {
    const listing = { kind: "ledger-listing", ledgerId: ledgerId(id), region: east, createdAtMs: 0 } as const;
    await w.put(ledgerListingKey(east, ledgerId(id)), listing);
  }
  w.faults.fail({ client: "A", port: "metadata", call: "get" }, "before", 3);
  w.faults.at({ client: "A", port: "metadata", call: "get" }, "before", Number.POSITIVE_INFINITY, () => {
    w.world.clock.jump(auditLimits.passMs / 16); // every look takes long
  });
  let failures = 0;
  for (let pass = 0; pass < 12 && seen.size < count; pass++) {
    const report = await w.run(auditor.pass());
    expect(report.ledgers).toBeLessThanOrEqual(24);
    failures += report.failures;
    for (let id = 0; id < count; id++) {
      if ((await listed(w, ledgerId(id))) === undefined) seen.add(String(id));
    }
  }
  expect(failures).toBeGreaterThan(0);
  expect(seen.size).toBe(count);
});

test("AU1: ledgers that take all of a pass leave time for the logs", async () => {
  const { w, p } = await world({ segmentBytesMax: 1 });
  await p.append("a", "b");
  await w.trim(1);
  const { auditor } = w.client("A", "east");
  for (let id = 0; id < 100; id++) {
    const listing = { kind: "ledger-listing", ledgerId: ledgerId(id), region: east, createdAtMs: 0 } as const;
    await w.put(ledgerListingKey(east, ledgerId(id)), listing);
  }
  w.faults.at({ client: "A", port: "metadata", call: "get" }, "before", Number.POSITIVE_INFINITY, () => {
    w.world.clock.jump(auditLimits.passMs / 32);
  });
  expect(await w.run(auditor.pass())).toMatchObject({ logs: 1, segmentsRemoved: 1 });
});

test("AU1: a pass goes around once, wherever it begins, and looks at nothing twice", async () => {
  const { w, p } = await world();
  await p.append("a");
  const { ports } = w.client("A", "east");
  for (let shard = 0; shard < DIRECTORY_SHARDS; shard++) {
    const random = { ...ports.random, uint32: () => shard };
    const { auditor } = composeRegion({ ...ports, random });
    expect(await w.run(auditor.pass())).toMatchObject({ ledgers: 1, logs: 1, failures: 0 });
  }
});

test("AU1: a pass that takes up in the midst of a list ends there", async () => {
  const { w } = await world();
  const { auditor } = w.client("A", "east");
  const ids = Array.from({ length: 12 }, (_, index) => ledgerId(index * DIRECTORY_SHARDS));
  for (const id of ids) {
    await w.put(ledgerListingKey(east, id), {
      kind: "ledger-listing",
      ledgerId: id,
      region: east,
      createdAtMs: 0,
    });
  }
  let slow = true;
  w.faults.at({ client: "A", port: "metadata", call: "get" }, "before", Number.POSITIVE_INFINITY, () => {
    if (slow) w.world.clock.jump(auditLimits.passMs / 8);
    throw unavailable("not now", "none"); // so that they stay
  });
  expect(await w.run(auditor.pass())).toMatchObject({ ledgers: auditLimits.atOnce });
  slow = false;
  expect(await w.run(auditor.pass())).toMatchObject({ ledgers: ids.length });
});
