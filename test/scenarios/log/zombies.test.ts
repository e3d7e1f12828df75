/** Stories of processes that were given up, and go on: after a takeover, a deletion, the seal age. */
import { describe, expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { auditLimits } from "../../../lib/protocol/log/upkeep/audit-limits.ts";
import { LOG, LogWorld, type LogWorldFields } from "./log-world.ts";

/** P in the east owns the log and has appended "a". */
async function ownedByEast(fields: Pick<LogWorldFields, "segmentBytesMax" | "segmentAgeMaxMs"> = {}) {
  const w = await LogWorld.make({ leases: true, forwarding: true, ...fields });
  const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
  expect(await p.append("a")).toEqual(["at 0"]);
  return { w, p, q };
}

/** One pass of that region's auditor. */
const pass = async (w: LogWorld, where: string) => {
  const { auditor } = w.client(`auditor in the ${where}`, where);
  const report = await w.run(auditor.pass());
  expect(report.failures).toBe(0);
  return report;
};

/** An acknowledged record is there once, at its position; one that was not is there once at most. */
async function judge(w: LogWorld, text: string, outcome: string, from = 0): Promise<void> {
  const log = await w.client("T", "north").read(from);
  const times = log.filter((one) => one === text).length;
  if (outcome.startsWith("at ")) {
    expect(times).toBe(1);
    expect(log[Number(outcome.slice(3)) - from]).toBe(text);
  } else {
    expect(times).toBeLessThanOrEqual(outcome.includes("side effects none") ? 0 : 1);
  }
}

describe("an owner freezes in mid-append, and thaws after another region has taken over", () => {
  test.each([
    ["bookie", "before", "add"],
    ["bookie", "after", "add"],
    ["lease", "before", "write"],
    ["lease", "after", "write"],
  ] as const)("at the %s, %s its effect", async (port, moment, call) => {
    const { w, p, q } = await ownedByEast();
    if (port === "lease") w.world.clock.jump(limits.leaseTtlMs); // due for renewal
    const frozen = w.faults.hold({ client: "P", port, call }, moment);
    const late = p.sending("frozen");
    await w.idle();
    w.faults.hold({ client: "Q", port: "region", target: "east" });
    const [first = ""] = await q.append("q");
    expect(first).toMatch(/^at /);
    w.world.clock.jump(3_600_000);
    frozen.release();
    const [outcome = ""] = await w.run(late);
    expect(await q.append("r")).toHaveLength(1);
    await judge(w, "frozen", outcome);
    await judge(w, "q", first);
  });

  test("its own region goes on through the new owner, and the zombie's lease stands in nobody's way", async () => {
    const { w, p, q } = await ownedByEast();
    const frozen = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const late = p.sending("frozen");
    await w.idle();
    await w.run(q.appends.transferOwner(LOG, region("west")).catch(() => undefined));
    w.faults.hold({ client: "Q", port: "region", target: "east" });
    await q.append("in doubt"); // it was heard a moment ago
    expect((await q.append("q"))[0]).toMatch(/^at /);
    expect((await w.client("P2", "east").append("p2"))[0]).toMatch(/^at /);
    frozen.release();
    const [outcome = ""] = await w.run(late);
    await judge(w, "frozen", outcome);
  });
});

describe.each(["before", "after"] as const)("a process freezes %s any call of an append", (moment) => {
  test.each(["east", "west"])("and thaws an hour after one in the %s went on", async (where) => {
    let frozenAt = 0;
    for (let isFrozen = true; isFrozen; frozenAt++) {
      const w = await LogWorld.make({ leases: true });
      const q = w.client("Q", where);
      const before = w.client("before");
      expect(await before.append("a")).toEqual(["at 0"]);
      await before.release();
      let thaw = () => {};
      const thawed = new Promise<void>((resolve) => (thaw = resolve));
      let count = 0;
      // From that call on nothing of it goes on.
      w.faults.at({ client: "P" }, moment, Number.POSITIVE_INFINITY, () =>
        count++ < frozenAt ? undefined : thawed,
      );
      const late = w.client("P").sending("frozen");
      await w.idle();
      isFrozen = count > frozenAt;
      const [first = ""] = await q.append("q");
      expect(first, `call ${frozenAt}`).toMatch(/^at /);
      w.world.clock.jump(3_600_000);
      thaw();
      const [outcome = ""] = await w.run(late);
      expect((await q.append("r"))[0], `call ${frozenAt}`).toMatch(/^at /);
      await judge(w, "frozen", outcome);
      await judge(w, "q", first);
    }
    expect(frozenAt).toBeGreaterThan(8);
  });
});

describe("a name is deleted and created again under a zombie", () => {
  test.each(["before", "after"] as const)(
    "frozen %s its adds: nothing of its former life is in the new log",
    async (moment) => {
      const { w, p, q } = await ownedByEast();
      const frozen = w.faults.hold({ client: "P", port: "bookie", call: "add" }, moment);
      const late = p.sending("frozen");
      await w.idle();
      await w.deleteAndCreateAgain();
      expect((await q.append("new"))[0]).toBe("at 0");
      frozen.release();
      const [outcome = ""] = await w.run(late);
      // Its record was in the former log, or is refused, or goes behind what is in the log of that name now.
      const log = await w.client("T", "north").read(0);
      expect(log[0]).toBe("new");
      expect(log.filter((text) => text === "a")).toEqual([]);
      const times = log.filter((text) => text === "frozen").length;
      expect(times).toBe(moment === "before" && outcome === "at 1" ? 1 : 0);
    },
  );

  test("a lease left clean in the former life is never met by the new one (35)", async () => {
    const { w, p } = await ownedByEast();
    await p.release();
    const former = await w.deleteAndCreateAgain();
    expect((await w.leaseTable("east").read(former))?.lease.clean).toBe(true);
    expect(await w.client("P2", "east").append("b")).toEqual(["at 0"]);
    expect(await w.client("T", "north").read(0)).toEqual(["b"]);
    expect(await p.append("c")).toEqual(["at 1"]);
  });
});

describe("a hibernated library writer thaws after the seal age (15)", () => {
  test.each(["before", "after"] as const)(
    "its adds on the way %s their effect: it acknowledges nothing of them",
    async (moment) => {
      const { w, p, q } = await ownedByEast({ segmentBytesMax: 1 });
      const frozen = w.faults.hold({ client: "P", port: "bookie", call: "add" }, moment);
      const late = p.sending("hibernated");
      await w.idle();
      w.faults.hold({ client: "Q", port: "region", target: "east" });
      const [first = ""] = await q.append("q");
      expect(first).toMatch(/^at /);
      const at = Number(first.slice(3));
      expect(await q.append("r")).toEqual([`at ${at + 1}`]);
      await w.trim(at + 1);
      await pass(w, "west"); // out of the chain
      w.world.clock.jump(auditLimits.ageMs);
      await pass(w, "east"); // entries collected
      w.world.clock.jump(limits.sealAgeMs);
      const { verdicts } = await pass(w, "east");
      expect(verdicts.forgotten).toBeGreaterThan(0); // no fence, no seal, no metadata
      frozen.release();
      const [outcome = ""] = await w.run(late);
      await judge(w, "hibernated", outcome, at + 1);
      expect((await w.client("T", "north").read(at + 1))[0]).toBe("r");
      expect((await w.client("Q2", "west").append("s"))[0]).toMatch(/^at /);
    },
  );

  test("idle all the time, and its ledger forgotten: nothing is acknowledged there, and it follows the log", async () => {
    // Its age alone would not make it look for the next segment.
    const { w, p, q } = await ownedByEast({ segmentAgeMaxMs: 3 * limits.sealAgeMs });
    w.faults.hold({ client: "Q", port: "region", target: "east" });
    expect(await q.append("q")).toEqual(["at 1"]);
    await w.trim(1);
    await pass(w, "west");
    w.world.clock.jump(auditLimits.ageMs);
    await pass(w, "east");
    w.world.clock.jump(limits.sealAgeMs);
    expect((await pass(w, "east")).verdicts.forgotten).toBeGreaterThan(0);
    const told = await p.append("after", "and after that");
    expect(told[1]).toMatch(/^at /);
    await judge(w, "after", told[0] ?? "", 1);
    await judge(w, "and after that", told[1] ?? "", 1);
  });

  test("idle all the time, it finds out at its next append, and follows the log", async () => {
    const { w, p, q } = await ownedByEast();
    w.faults.at({ client: "Q", port: "region" }, "before", 40, () => {
      throw new Error("cut");
    });
    expect((await q.append("q"))[0]).toMatch(/^(at |unknown|not_ready)/);
    w.world.clock.jump(2 * limits.sealAgeMs);
    const [outcome = ""] = await p.append("after");
    expect(outcome).toMatch(/^at /);
    await judge(w, "after", outcome);
  });
});
