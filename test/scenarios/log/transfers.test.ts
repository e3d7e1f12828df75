/** Stories of logs that go from one region to another by leave of the first. */
import { describe, expect, test } from "vitest";
import { Age } from "../../../lib/protocol/deadline.ts";
import { region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { ownerLimits } from "../../../lib/protocol/log/ownership/owner-limits.ts";
import type { RegionState } from "../../../lib/protocol/replication.ts";
import { LOG, LogWorld } from "./log-world.ts";

/** P in the east owns the log and has appended "a"; Q is the west's, N the north's function. */
async function ownedByEast() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const [p, q, n] = [w.client("P", "east"), w.client("Q", "west"), w.client("N", "north")];
  expect(await p.append("a")).toEqual(["at 0"]);
  return { w, p, q, n };
}

const owners = async (w: LogWorld) =>
  (await w.run(w.client("T", "north").reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);

const recoveries = (w: LogWorld) =>
  w.world.trace.filter((event) => event.event === "recovery-started").length;

const west = region("west");

describe("a transfer", () => {
  test.each(["P", "Q", "N"])("asked of %s: the owner leaves cleanly, nothing is recovered", async (asked) => {
    const { w, p, q, n } = await ownedByEast();
    const client = { P: p, Q: q, N: n }[asked] ?? p;
    const now = await w.run(client.appends.transferOwner(LOG, west));
    expect(now).toMatchObject({ owner: "west", epoch: 2 });
    expect(await owners(w)).toEqual(["east", "west"]);
    expect(recoveries(w)).toBe(0);
    expect(await p.append("b")).toEqual(["at 1"]);
    expect(await q.append("c")).toEqual(["at 2"]);
    expect(await n.read(0)).toEqual(["a", "b", "c"]);
    expect(recoveries(w)).toBe(0);
    expect(await owners(w)).toEqual(["east", "west"]);
  });

  test("may be asked again: the log stays where it is, in its segment", async () => {
    const { w, p, q } = await ownedByEast();
    for (let time = 0; time < 3; time++) {
      const now = await w.run((time % 2 === 0 ? p : q).appends.transferOwner(LOG, west));
      expect(now).toMatchObject({ owner: "west", epoch: 2 });
    }
    expect(await owners(w)).toEqual(["east", "west"]);
  });

  test("of a log that nobody owns yet makes the region its owner", async () => {
    const w = await LogWorld.make({ leases: true, forwarding: true });
    const [p] = [w.client("P", "east"), w.client("Q", "west")];
    expect(await w.run(p.appends.transferOwner(LOG, west))).toMatchObject({ owner: "west", epoch: 1 });
    expect(await p.append("a")).toEqual(["at 0"]);
    expect(await owners(w)).toEqual(["west"]);
  });

  test("under load: every append is acknowledged, once, in each appender's order", async () => {
    const { w, p, q, n } = await ownedByEast();
    const texts = (name: string) => Array.from({ length: 30 }, (_, index) => `${name}${index}`);
    const writing = async (client: typeof p, name: string) => {
      for (const text of texts(name)) await client.sendingBatch([text]);
    };
    const busy = ["p", "s", "t", "u"].map((name) => writing(p, name));
    const load = Promise.all([...busy, writing(q, "q"), writing(n, "n")]);
    const moving = async () => {
      for (const to of ["west", "north", "east", "west"]) await n.appends.transferOwner(LOG, region(to));
    };
    await w.run(Promise.all([load, moving()]));
    const log = await w.client("T", "north").read(0);
    expect(log).toHaveLength(1 + 6 * 30);
    for (const name of ["p", "s", "t", "u", "q", "n"]) {
      expect(log.filter((text) => text.startsWith(name))).toEqual(texts(name));
    }
    expect((await owners(w)).at(-1)).toBe("west");
  });

  test("whose owner is silent is a takeover, on the same evidence as any", async () => {
    const { w, q } = await ownedByEast();
    w.faults.hold({ client: "Q", port: "region", target: "east" });
    expect(await w.run(q.appends.transferOwner(LOG, west))).toMatchObject({ owner: "west" });
    expect(await q.append("b")).toEqual(["at 1"]);
  });

  test("whose target does not answer leaves the log where it is", async () => {
    const { w, p, q } = await ownedByEast();
    w.faults.fail({ client: "P", port: "region", target: "west" }, "before", Number.POSITIVE_INFINITY);
    const error = await w.run(p.appends.transferOwner(LOG, west).catch((reason) => reason));
    expect(error).toMatchObject({ code: "not_ready", sideEffects: "possible" });
    expect(await p.append("b")).toEqual(["at 1"]);
    expect(await q.append("c")).toEqual(["at 2"]);
    expect(new Set(await owners(w))).toEqual(new Set(["east"]));
  });

  test.each(["silent", "without its lease table"])(
    "whose target is %s stops no append: the lease is released only for a region that can own",
    async (how) => {
      const { w, p } = await ownedByEast();
      if (how === "silent") w.faults.hold({ client: "P", port: "region", target: "west" });
      else w.faults.fail({ client: "Q", port: "lease" });
      const moving = p.appends.transferOwner(LOG, west).catch((error) => error.code);
      await w.world.clock.advance(50);
      const started = w.world.clock.nowMs();
      expect(await p.append("b")).toEqual(["at 1"]);
      expect(w.world.clock.nowMs() - started).toBeLessThan(100);
      expect(await w.run(moving)).toBe("not_ready");
      expect(await p.append("c")).toEqual(["at 2"]);
      expect(await owners(w)).toEqual(["east"]); // one segment
    },
  );

  test.each([
    ["who the owner is", "metadata", 1, "not_ready"],
    ["whose the lease is", "lease", 1, "not_owner"],
    ["what the last segment is", "metadata", 2, "not_ready"],
  ] as const)(
    "whose next owner froze when it asked %s takes nothing when it thaws",
    async (_, port, look, code) => {
      const { w, p, q } = await ownedByEast();
      let looks = 0;
      let thaw = () => {};
      const thawed = new Promise<void>((resolve) => (thaw = resolve));
      const query = { client: "Q", port, call: port === "lease" ? "read" : "query" } as const;
      w.faults.at(query, "after", look, () => (++looks === look ? thawed : undefined));
      const asked = q.appends.serve({ kind: "take-over", log: LOG, from: region("east") });
      await w.idle();
      expect(looks).toBe(look);
      w.world.clock.jump(limits.appendDeadlineMs);
      expect(await p.append("b")).toEqual(["at 1"]);
      thaw();
      expect(await w.run(asked)).toMatchObject({ kind: "refused", error: { code } });
      expect(await p.append("c")).toEqual(["at 2"]);
      expect(await owners(w)).toEqual(["east"]);
      expect(recoveries(w)).toBe(0);
    },
  );

  test("whose request to take over lies on the way for an hour takes nothing: the owner has gone on", async () => {
    const { w, p } = await ownedByEast();
    const onItsWay = w.faults.hold({ client: "P", port: "region", call: "ask", target: "west" }, "before", 1);
    const moving = p.appends.transferOwner(LOG, west).catch((error) => error.code);
    while (onItsWay.calls.length === 0) await w.world.clock.advance(50);
    w.faults.fail({ client: "P", port: "region", call: "canOwn", target: "west" });
    expect(await w.run(moving)).toBe("not_ready");
    expect(await p.append("b")).toEqual(["at 1"]); // in a segment of its own: the one before is closed
    w.world.clock.jump(3_600_000);
    onItsWay.release();
    await w.world.clock.advance(10_000);
    expect(await p.append("c")).toEqual(["at 2"]);
    expect(await owners(w)).toEqual(["east", "east"]);
  });

  test("that gives up on a slow append leaves the lease alone from then on", async () => {
    const { w, p } = await ownedByEast();
    const slow = w.faults.hold({ client: "P", port: "bookie", call: "add" }, "after");
    const flying = p.sending("b", "c");
    const moving = p.appends.transferOwner(LOG, west).catch((error) => error.code);
    await w.world.clock.advance(1_000);
    w.world.clock.jump(60_000); // the transfer's patience is over, and so is the append's
    expect(await w.run(moving)).toBe("not_ready");
    slow.release();
    await w.run(flying);
    const before = w.world.trace.filter(({ event }) => event === "lease-released").length;
    for (let round = 0; round < 5; round++) await w.run(p.sending("x", "y", "z"));
    expect(w.world.trace.filter(({ event }) => event === "lease-released")).toHaveLength(before);
  });

  test("whose replies are lost, at every call, ends all the same", async () => {
    for (const nth of [1, 2, 3, 4]) {
      const { w, p, q } = await ownedByEast();
      w.faults.fail({ client: nth % 2 === 0 ? "P" : "Q", port: "region", call: "ask" }, "after", nth);
      expect(await w.run(q.appends.transferOwner(LOG, west))).toMatchObject({ owner: "west" });
      expect(await p.append("b")).toEqual(["at 1"]);
      expect(await q.read(0)).toEqual(["a", "b"]);
    }
  });

  test("to a region that is not there, or not accepting, is refused; a sealed log has no owner", async () => {
    const { w, p } = await ownedByEast();
    const code = (to: string) =>
      w.run(p.appends.transferOwner(LOG, region(to)).then(String, (error) => error.code));
    expect(await code("south")).toBe("region_not_found");
    const states = { bookies: new Map(), regions: new Map([[west, "draining" as RegionState]]) };
    p.ports.topology.states = () => states;
    expect(await code("west")).toBe("region_not_accepting");
    await w.run(p.appends.seal(LOG));
    expect(await code("north")).toBe("log_sealed");
  });
});

describe("a region that should not own logs, or cannot", () => {
  test("drained, hands its log over with the next append, cleanly", async () => {
    const { w, p, q } = await ownedByEast();
    const states = { bookies: new Map(), regions: new Map([[p.ports.region, "draining" as RegionState]]) };
    p.ports.topology.states = () => states;
    expect(await p.append("b")).toEqual(["at 1"]);
    expect((await owners(w)).at(-1)).not.toBe("east");
    expect(recoveries(w)).toBe(0);
    expect(await q.append("c")).toEqual(["at 2"]);
    expect(await q.read(0)).toEqual(["a", "b", "c"]);
  });

  test.each(["the owner", "another region"])(
    "in what %s knew before it froze, keeps its log",
    async (who) => {
      const { w, p, q } = await ownedByEast();
      const { clock } = w.world;
      const readAt = new Age(clock);
      const states = {
        bookies: new Map(),
        regions: new Map([[p.ports.region, "draining" as RegionState]]),
        readAt,
      };
      const client = who === "the owner" ? p : q;
      client.ports.topology.states = () => states;
      clock.jump(ownerLimits.regionStatesAgeMaxMs);
      expect(await client.append("b")).toEqual(["at 1"]);
      expect(new Set(await owners(w))).toEqual(new Set(["east"]));
    },
  );

  test("drained with every region: its log stays, and is appended to", async () => {
    const { w, p } = await ownedByEast();
    const all = ["east", "west", "north"].map((name) => [region(name), "draining" as RegionState] as const);
    p.ports.topology.states = () => ({ bookies: new Map(), regions: new Map(all) });
    expect(await p.append("b")).toEqual(["at 1"]);
    expect(await owners(w)).toEqual(["east"]);
  });

  test("without its lease table, a fresh function of the owner has another region take the log", async () => {
    const { w } = await ownedByEast();
    w.faults.fail({ client: "P2", port: "lease" });
    expect(await w.client("P2", "east").append("b")).toEqual(["at 1"]);
    expect((await owners(w)).at(-1)).not.toBe("east");
  });
});

test("settling is the owner's, wherever it is asked: nothing is recovered, nothing changes hands", async () => {
  const { w, p, q } = await ownedByEast();
  await w.run(q.appends.settle(LOG));
  expect(recoveries(w)).toBe(0);
  expect(await p.append("b")).toEqual(["at 1"]);
  w.faults.hold({ client: "N", port: "region" });
  await w.run(w.client("N", "north").appends.settle(LOG));
  expect(recoveries(w)).toBe(1);
});
