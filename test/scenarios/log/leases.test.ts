/** Stories of one region's processes that pass the lease (rules 16 to 20). */
import { describe, expect, test } from "vitest";
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { Lease } from "../../../lib/protocol/lease.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LOG, LogWorld, recordOf, told } from "./log-world.ts";

const world = () => LogWorld.make({ leases: true });

/** How many ledgers were recovered so far. */
const recoveries = (w: LogWorld) =>
  w.world.trace.filter((event) => event.event === "recovery-started").length;

const lease = async (w: LogWorld): Promise<Lease> => {
  const stored = await w.leaseTable("east").read(w.log);
  if (stored === undefined) throw new Error("no lease");
  return stored.lease;
};

test("50 processes hand the lease on: one ledger, no recovery, no gap", async () => {
  const w = await world();
  const texts = Array.from({ length: 50 }, (_, index) => `i${index}`);
  for (const [index, text] of texts.entries()) {
    const p = w.client(text);
    expect(await p.append(text)).toEqual([`at ${index}`]);
    await p.release();
  }
  expect(recoveries(w)).toBe(0);
  expect(Object.keys(await w.chain())).toEqual(["0"]);
  expect(await w.client("T", "west").read(0)).toEqual(texts);
});

test("50 processes at once: each gets the lease, or is asked to come back; nothing is recovered", async () => {
  const w = await world();
  const texts = Array.from({ length: 50 }, (_, index) => `i${index}`);
  const outcomes = texts.map(async (text) => {
    const p = w.client(text);
    const [outcome = ""] = await p.sending(text);
    await p.appends.release();
    return outcome;
  });
  const told = await w.run(Promise.all(outcomes));
  const refused = told.filter((outcome) => !outcome.startsWith("at "));
  expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? ["not_ready, side effects none"] : []));
  expect(recoveries(w)).toBe(0);
  expect(refused.length).toBeLessThan(25);
  expect(await w.client("T", "west").read(0)).toHaveLength(50 - refused.length);
});

test("a warm process appends without a metadata request, also after it handed the lease on and got it back", async () => {
  const w = await world();
  const [p, q] = [w.client("P"), w.client("Q")];
  await p.append("p");
  await p.release();
  const before = w.faults.count({ client: "P", port: "metadata" });
  for (let round = 0; round < 5; round++) {
    expect(await p.append("p")).toHaveLength(1);
    await p.release();
  }
  expect(await q.append("q")).toEqual(["at 6"]);
  await q.release();
  expect(await p.append("p")).toEqual(["at 7"]);
  expect(w.faults.count({ client: "P", port: "metadata" })).toBe(before);
  expect(recoveries(w)).toBe(0);
});

test("a busy holder renews on use, no more than once a second, and yields when the lease is wanted", async () => {
  const w = await world();
  const [p, q] = [w.client("P"), w.client("Q")];
  await p.append("p");
  const writes = () => w.faults.count({ client: "P", port: "lease", call: "write" });
  const before = writes();
  for (let ms = 0; ms < 5_000; ms += 50) {
    await p.append("p");
    await w.world.clock.advance(50);
  }
  expect(writes() - before).toBeLessThanOrEqual(5);
  const waiting = q.sending("q").then(async (outcome) => {
    await q.appends.release();
    return outcome;
  });
  let waited = 0;
  for (let done = false; !done; waited += 50) {
    void waiting.then(() => (done = true));
    await p.append("p");
    await w.world.clock.advance(50);
  }
  expect((await waiting)[0]).toMatch(/^at /);
  expect(waited).toBeLessThan(limits.leaseTtlMs);
  expect(recoveries(w)).toBe(0);
});

test("a holder that dies is waited for, recovered, and nothing acknowledged is lost", async () => {
  const w = await world();
  await w.client("dead").append("a");
  const started = w.world.clock.nowMs();
  expect(await w.client("Q").append("q")).toEqual(["at 1"]);
  expect(w.world.clock.nowMs() - started).toBeLessThan(limits.leaseTtlMs + 200);
  expect(recoveries(w)).toBe(1);
  expect(await w.client("T", "west").read(0)).toEqual(["a", "q"]);
});

test("a process idle for an hour goes on in its own tenure if no process took the lease", async () => {
  const w = await world();
  const p = w.client("P");
  await p.append("a");
  w.world.clock.jump(3_600_000);
  expect(await p.append("b")).toEqual(["at 1"]);
  expect(recoveries(w)).toBe(0);
});

test("a process that freezes in an add and thaws an hour later belongs to its own tenure or is fenced", async () => {
  const w = await world();
  const p = w.client("P");
  await p.append("a");
  const frozen = w.faults.hold({ client: "P", port: "bookie", call: "add" });
  const late = p.sending("frozen");
  await w.idle();
  w.world.clock.jump(3_600_000);
  expect(await w.client("Q").append("q")).toEqual(["at 1"]);
  frozen.release();
  const [outcome = ""] = await w.run(late);
  const log = await w.client("T", "west").read(0);
  expect(log.slice(0, 2)).toEqual(["a", "q"]);
  expect(log.filter((text) => text === "frozen").length).toBeLessThanOrEqual(1);
  if (outcome.startsWith("at ")) expect(log[Number(outcome.slice(3))]).toBe("frozen");
});

test("a lease table that is down: refused without side effects, and it says that the region cannot own", async () => {
  const w = await world();
  w.faults.fail({ client: "P", port: "lease" });
  const p = w.client("P");
  const error = await w.run(p.sendingBatch(["p"]).catch((reason) => reason));
  expect(error).toMatchObject({
    code: "region_unavailable",
    sideEffects: "none",
    details: { cannot_own: true },
  });
});

test("a lease table that goes down under a warm holder does not stop it", async () => {
  const w = await world();
  const p = w.client("P");
  await p.append("a");
  w.faults.fail({ client: "P", port: "lease" });
  w.world.clock.jump(3_600_000);
  expect(await p.append("b", "c")).toEqual(["at 1", "at 2"]);
});

test("suspects in the lease: the next holder changes the ensemble before it sends", async () => {
  const w = await world();
  const p = w.client("P");
  await p.append("a");
  w.faults.fail({ client: "P", port: "bookie", call: "add", target: "B0" });
  await p.append("b");
  await w.world.clock.advance(5_000);
  await p.release();
  expect((await lease(w)).suspects).toEqual(["B0"]);
  const q = w.client("Q");
  expect(await q.append("c")).toEqual(["at 2"]);
  expect(w.faults.count({ client: "Q", call: "add", target: "B0" })).toBe(0);
  expect(w.faults.count({ client: "Q", call: "add", target: "B3" })).toBe(1);
  await q.release();
  expect((await lease(w)).suspects).toEqual([]);
  expect(recoveries(w)).toBe(0);
  expect(await w.client("T", "west").read(0)).toEqual(["a", "b", "c"]);
});

describe("release", () => {
  test("S24 (17, 18): waits for every add, and what comes later goes into another tenure", async () => {
    const w = await world();
    const p = w.client("P");
    await p.append("a");
    const first = (await lease(w)).tenure;
    const replies = w.faults.hold({ client: "P", port: "bookie", call: "add" }, "after");
    const inFlight = p.sending("b");
    await w.idle();
    const release = p.appends.release();
    await w.idle();
    expect((await lease(w)).clean).toBe(false);
    const sentRelease = w.faults.hold({ client: "P", port: "lease", call: "write" }, "after", 1);
    replies.release();
    await w.idle();
    expect(sentRelease.calls).toHaveLength(1);
    const late = p.sending("c");
    await w.idle();
    expect(w.faults.count({ client: "P", call: "add", about: 2 })).toBe(0);
    sentRelease.release();
    await w.run(Promise.all([inFlight, release]));
    expect(await w.run(late)).toEqual(["at 2"]);
    expect((await lease(w)).tenure).not.toBe(first);
    expect(recoveries(w)).toBe(0);
  });

  test("S24 (17): with its reply lost the next add is of another tenure", async () => {
    const w = await world();
    const p = w.client("P");
    await p.append("a");
    const first = (await lease(w)).tenure;
    w.faults.fail({ client: "P", port: "lease", call: "write" }, "after", 1);
    await p.release();
    expect(await p.append("b")).toEqual(["at 1"]);
    expect((await lease(w)).tenure).not.toBe(first);
  });

  test("S24 (18): an add that no bookie answers is recovered, and the release after it is not clean", async () => {
    const w = await world();
    const p = w.client("P");
    await p.append("a");
    w.faults.fail({ client: "P", port: "bookie", call: "add" });
    void p.sending("b");
    await w.idle();
    await w.run(Promise.race([p.appends.release()]));
    expect((await lease(w)).clean).toBe(false);
  });
});

describe("acquire", () => {
  test("S25 (18): with its reply lost the next holder recovers, though the release was clean", async () => {
    const w = await world();
    const p = w.client("P");
    await p.append("a");
    await p.release();
    w.faults.fail({ client: "Q", port: "lease", call: "write" }, "after", 1);
    expect(await w.client("Q").append("q")).toEqual(["at 1"]);
    expect(recoveries(w)).toBe(1);
  });

  test("S26 (19): a process that knows the old ensemble reads the changed one before it sends", async () => {
    const w = await world();
    const [a, b] = [w.client("A"), w.client("B")];
    await a.append("a");
    await a.release();
    const failing = ["B0", "B1"].map((target) =>
      w.faults.fail({ client: "B", port: "bookie", call: "add", target }),
    );
    await b.append("b");
    for (const end of failing) end();
    await b.release();
    const ledger = (await w.world.metadata.get(ledgerKey((await w.chain())[0] as LedgerId), "consistent"))
      ?.item;
    const ensemble = ledger?.kind === "ledger" ? ledger.fragments.at(-1)?.ensemble.map(({ id }) => id) : [];
    expect(ensemble).toContain("B3");
    expect(await a.append("a")).toEqual(["at 2"]);
    const sent = w.faults.log.filter(
      ({ client, call, about }) => client === "A" && call === "add" && about === "2",
    );
    expect(sent.map(({ target }) => target).sort()).toEqual([...(ensemble ?? [])].sort());
    expect(await w.client("T", "west").read(0)).toEqual(["a", "b", "a"]);
    expect(recoveries(w)).toBe(0);
  });

  test("19: a process that never knew the ledger reads that it is closed, and adds nothing to it", async () => {
    const w = await world();
    const p = w.client("P");
    await p.append("a");
    await p.release();
    expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
    expect(await w.client("cold").append("b")).toEqual(["at 2"]);
    expect(w.world.trace.filter(({ event }) => event === "segment-resumed")).toEqual([]);
  });

  test("19: a ledger that was taken over since is recovered at the first fence", async () => {
    const w = await world();
    const p = w.client("P");
    await p.append("a");
    await p.release();
    expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
    expect(await p.append("b")).toEqual(["at 2"]);
    await w.client("P2").append("c");
    expect(await w.client("T", "north").read(0)).toEqual(["a", "q", "b", "c"]);
  });
});

test("19: timestamps do not fall where the lease changes hands, also after a control entry", async () => {
  const w = await world();
  const [p, q] = [w.client("P"), w.client("Q")];
  const timestampMs = Math.floor(w.world.clock.nowMs()) + limits.timestampAheadMaxMs;
  await w.run(p.appends.append({ log: LOG, records: [{ ...recordOf("a"), timestampMs }] }));
  await p.release();
  expect(await q.append("b")).toEqual(["at 1"]);
  await w.run(q.appends.settle(LOG));
  await q.release();
  expect(await p.append("c")).toEqual(["at 2"]);
  expect(recoveries(w)).toBe(0);
  const { records } = await w.client("T", "west").answer(0);
  expect(records.map((one) => one.timestampMs)).toEqual([timestampMs, timestampMs, timestampMs]);
});

test("14: the holder settles with a control entry, and the next one goes on behind it", async () => {
  const w = await world();
  const p = w.client("P");
  await p.append("a");
  await w.run(p.appends.settle(LOG));
  await p.release();
  expect(await w.client("Q").append("b")).toEqual(["at 1"]);
  expect(recoveries(w)).toBe(0);
  expect(await w.client("T", "west").read(0)).toEqual(["a", "b"]);
});

describe.each(["before", "after"] as const)("a call of a hand-off fails %s its effect", (moment) => {
  test("whichever call it is: acknowledged is recorded once, refused is not", EXHAUSTIVE, async () => {
    let calls = 12;
    for (let failing = 0; failing < calls; failing++) {
      const w = await world();
      const p = w.client("P");
      let count = 0;
      await p.append("a");
      for (const client of ["P", "Q"]) {
        w.faults.at({ client }, moment, Number.POSITIVE_INFINITY, () => {
          if (count++ === failing) throw new Error("lost");
        });
      }
      const [first = ""] = await p.append("b");
      await p.release();
      const [second = ""] = await w.client("Q").append("c");
      calls = Math.max(calls, Math.min(count, 60));
      const log = await w.client("T", "west").read(0);
      for (const [text, outcome] of [
        ["b", first],
        ["c", second],
      ] as const) {
        const found = log.filter((one) => one === text).length;
        const expected = outcome.startsWith("at ") ? [1] : outcome.endsWith("none") ? [0] : [0, 1];
        expect(expected, `call ${failing}: ${text} ${outcome}, and the log is ${log}`).toContain(found);
        if (outcome.startsWith("at ")) expect(log[Number(outcome.slice(3))]).toBe(text);
      }
    }
  });
});

test("17, 18: a lease that is still on its way when its release is asked for is released once it arrives", async () => {
  const w = await world();
  const [p, q] = [w.client("P"), w.client("Q")];
  expect(await q.append("a")).toEqual(["at 0"]);
  await q.release();
  const slow = w.faults.hold({ client: "P", port: "lease", call: "write" }, "after", 1);
  // P's request ends, for want of time, before its lease is there; the process then stands still.
  const late = p.appends.append({ log: LOG, records: [recordOf("late")], timeoutMs: 100 });
  expect(await w.run(told(late))).toBe("not_ready, side effects none");
  const released = p.appends.release();
  slow.release();
  await w.run(released);
  const started = w.world.clock.nowMs();
  expect(await q.append("b")).toEqual(["at 1"]);
  expect(w.world.clock.nowMs() - started).toBeLessThan(limits.leaseYieldMs);
  expect(recoveries(w)).toBe(0);
});

describe("an opening that takes longer than a lease", () => {
  test("keeps the lease: slow processes of one region do not fence each other for ever", async () => {
    const w = await world();
    await w.client("R").append("r");
    for (const client of ["P", "Q"]) {
      const slow = { client, port: "metadata" } as const;
      w.faults.at(slow, "before", Number.POSITIVE_INFINITY, () =>
        pause(w.world.clock, limits.leaseTtlMs / 6),
      );
    }
    const [p, q] = [w.client("P"), w.client("Q")];
    const told = await w.run(Promise.all([p.sending("x"), q.sending("x")]));
    expect(told.flat()).toContain("at 1");
    // R's, and that of the first holder of the lease.
    expect(Object.keys(await w.chain())).toHaveLength(2);
    expect((await w.client("T").read(0)).slice(0, 2)).toEqual(["r", "x"]);
  });
});
