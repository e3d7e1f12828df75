/** The stories of docs/PROTOCOL.md about a log's inbox. R's tenure t1 is listed with its ledger L1. */
import { describe, expect, test } from "vitest";
import { limits } from "../../../lib/protocol/limits.ts";
import { inboxLimits } from "../../../lib/protocol/log/inbox-limits.ts";
import type { InboxStore } from "../../../lib/protocol/log/inbox-store.ts";
import {
  losesAnswers,
  losesFirstAnswer,
  owed,
  serving,
  through,
  times,
  until,
  WINDOW,
} from "./inbox-world.ts";
import { LOG, type LogWorld, told } from "./log-world.ts";

const ADDS = { client: "R", port: "bookie", call: "add" } as const;
const POSTS = { client: "P", port: "inbox", call: "post" } as const;

describe("a process that serves dies", () => {
  test("U01 (37a): a ledger that follows is listed as well, so the tenure is decided by it", async () => {
    const { w, r } = await serving({ segmentBytesMax: 20 });
    await w.client("A").append("a record that fills L1");
    losesAnswers(w);
    const x = w.client("P").sending("x");
    await until(w, { ...POSTS });
    await w.world.clock.advance(200);
    expect(Object.keys(await w.chain())).toHaveLength(2);
    r.die();
    expect(await w.run(x)).toEqual(["at 1"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U02 (37a): a listing without a reply is none: nothing is sent to that ledger by post", async () => {
    const { w, r } = await serving({ segmentBytesMax: 20 });
    w.faults.fail({ client: "R", port: "lease" });
    await w.client("A").append("a record that fills L1");
    losesAnswers(w);
    const x = w.client("P").sending("x");
    await w.world.clock.advance(1_500);
    r.die();
    expect((await w.run(x))[0]).toMatch(/^at /);
    expect(await times(w, "x")).toBe(1);
  });

  test.each([
    ["U03 (37c, 40): unanswered in entry 0, with others behind it that are answered", "posts"],
    ["U04 (37c): unanswered in entry 0, with the holder's own behind it", "own"],
  ])("%s: the last W entries hold it", async (_, behind) => {
    const { w, r } = await serving({ wrongInbox: losesFirstAnswer("R") });
    const x = w.client("P").sending("x");
    await until(w, ADDS);
    for (let index = 0; index < WINDOW + 4; index++) {
      const from = behind === "own" ? r : w.client(`P${index}`);
      void from.sending(`behind ${index}`);
      await w.world.clock.advance(30);
    }
    const adds = w.faults.log.filter((call) => call.client === "R" && call.call === "add");
    expect(Math.max(...adds.map(({ about }) => Number(about)))).toBe(WINDOW - 1);
    r.die();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U19 (39): a tenure that is over and owes is not settled, nor is an expired one", async () => {
    const { w, r } = await serving();
    losesAnswers(w);
    const x = w.client("P").sending("x");
    await until(w, { client: "R", port: "inbox", call: "answer" });
    r.die();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
    expect(await owed(w)).toEqual([]);
  });

  test("U20, U21 (40): the ledger leaves the list when its tickets are answered, not before", async () => {
    const { w, r } = await serving();
    losesAnswers(w);
    losesAnswers(w, "Q");
    const x = w.client("P").sending("x");
    const y = w.client("Q").sending("y");
    await until(w, { client: "R", port: "inbox", call: "answer" }, 2);
    w.faults.hold({ client: "P", port: "lease" });
    const frozen = w.faults.hold({ client: "P", port: "inbox", call: "readAnswer" });
    r.die();
    await w.world.clock.advance(limits.leaseTtlMs + 3_000); // Q decides, and cannot put
    expect(await owed(w)).not.toEqual([]);
    w.client("P2")
      .sending("z")
      .catch(() => {});
    await w.world.clock.advance(1_000);
    frozen.release();
    const answers = await w.run(Promise.all([x, y]));
    for (const [text, [answer]] of [
      ["x", answers[0]],
      ["y", answers[1]],
    ] as const) {
      expect(await times(w, text)).toBe(1);
      expect(answer).toMatch(/^at |^unknown_outcome/);
    }
  });

  test("U27 (39): who posted takes the lease of a dead holder", async () => {
    const { w, r } = await serving();
    w.faults.hold(ADDS);
    const x = w.client("P").sending("x");
    await until(w, ADDS);
    r.die();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U28 (40): a tenure that is over is decided, though its successor does not", async () => {
    const { w, r } = await serving();
    losesAnswers(w);
    const x = w.client("P").sending("x");
    await until(w, { client: "R", port: "inbox", call: "answer" });
    r.die();
    await w.world.clock.advance(limits.leaseTtlMs);
    const taken = w.client("Q", "east").sending("q");
    expect(await w.run(x)).toEqual(["at 0"]);
    await w.run(taken);
    expect(await times(w, "x")).toBe(1);
  });
});

describe("a process that serves goes on", () => {
  test("U08 (37): what was taken and not sent is not carried into another tenure", async () => {
    const { w } = await serving();
    const renewal = w.faults.hold({ client: "R", port: "lease", call: "write" });
    while (renewal.calls.length === 0) await w.world.clock.advance(50);
    const x = w.client("P").sending("x");
    await until(w, POSTS);
    await w.world.clock.advance(100); // taken, and waits for the lease
    const item = await w.leaseTable("east").read(w.log);
    if (item === undefined) throw new Error("no lease");
    const wanted = { ...item.lease, wanted: true };
    await w.leaseTable("east").write(w.log, item.version, wanted, "story" as never);
    renewal.release();
    expect((await w.run(x))[0]).toMatch(/^at /);
    await w.world.clock.advance(5_000);
    expect(await times(w, "x")).toBe(1);
  });

  test("U08 (37): nor posted to the tenure that took the lease while a segment was opened", async () => {
    const { w } = await serving({ segmentBytesMax: 20 });
    const rolling = w.faults.hold({ client: "R", port: "metadata" });
    await w.client("A").append("a record that fills L1");
    const x = w.client("P").sending("x");
    await until(w, POSTS);
    await w.world.clock.advance(100); // taken, and waits for the next segment
    const heals = w.faults.fail({ client: "R", port: "lease" });
    await w.world.clock.advance(limits.leaseTtlMs);
    void w.client("R2").appends.serveInbox(LOG, { lifeMs: 60_000, idleMs: 60_000 });
    expect((await w.run(x))[0]).toMatch(/^at /);
    heals();
    await w.world.clock.advance(limits.leaseRenewAheadMs); // R finds out
    rolling.release();
    await w.world.clock.advance(10_000);
    expect(await times(w, "x")).toBe(1);
  });

  test("U09 (37): a request that is put again after its answer is not sent again", async () => {
    const { w } = await serving();
    const late: (() => Promise<void>)[] = [];
    w.faults.at(POSTS, "after", 1, async () => {
      const { requests } = await w.inboxTable("east").requests(w.log, await everything(w));
      const [request] = requests;
      if (request !== undefined) late.push(() => w.inboxTable("east").post(w.log, request));
    });
    expect(await w.client("P").append("x")).toEqual(["at 0"]);
    for (const put of late) await put();
    expect(late).toHaveLength(1);
    await w.world.clock.advance(500);
    expect(await times(w, "x")).toBe(1);
  });

  test("U10 (37, 42): superseded without knowing it, it answers no mismatch", async () => {
    const { w } = await serving();
    expect(await w.client("W", "west").append("w")).toEqual(["at 0"]);
    const x = told(w.client("P").sendingBatch(["x"], 1));
    expect(await w.run(x)).not.toMatch(/mismatch/);
  });

  test("U16 (38), U24 (42): released before its answers are put, the tenure stays on the list", async () => {
    const { w, end } = await serving({}, 200);
    const heals = losesAnswers(w);
    const x = w.client("P").sending("x");
    expect(await w.run(end)).toBe("idle");
    heals();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U18 (39): the answer is read behind the lease", async () => {
    const { w, end } = await serving({}, 300);
    const look = w.faults.hold({ client: "P", port: "inbox", call: "readAnswer", about: "stale" }, "after");
    const x = w.client("P").sending("x");
    while (look.calls.length === 0) await w.world.clock.advance(5);
    expect(await w.run(end)).toBe("idle");
    await w.world.clock.advance(inboxLimits.leasePollMs);
    look.release();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U23 (37b): a ledger with an unanswered ticket is not replaced on the list", async () => {
    const { w, r } = await serving({ segmentBytesMax: 20 });
    losesAnswers(w);
    const x = w.client("P").sending("a record that fills L1");
    await until(w, { client: "R", port: "inbox", call: "answer" });
    const y = w.client("Q").sending("y");
    await w.world.clock.advance(inboxLimits.lastAnswersMs + 500);
    r.die();
    expect(await w.run(x)).toEqual(["at 0"]);
    await w.run(y);
    expect(await times(w, "a record that fills L1")).toBe(1);
    expect(await times(w, "y")).toBe(1);
  });

  test("U26 (38): the floor stays below what is unanswered", async () => {
    const { w } = await serving();
    const heals = losesAnswers(w);
    const x = w.client("P").sending("x");
    await w.world.clock.advance(10_000);
    heals();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U26 (38): what is at or below a floor that was sent is not taken", async () => {
    const { w } = await serving();
    const inTransit = w.faults.hold(POSTS, "before", 1);
    const x = w.client("P").sending("x");
    await w.world.clock.advance(11_000);
    expect((await w.leaseTable("east").read(w.log))?.lease.floor).toBeGreaterThan(0);
    inTransit.release();
    expect((await w.run(x))[0]).toMatch(/^at |^unknown_outcome/);
    await w.world.clock.advance(1_000);
    expect(await times(w, "x")).toBe(1);
  });
});

describe("what proves nothing", () => {
  test("U05 (39, 41): an answer that is gone, to a process that was frozen for so long", async () => {
    const { w, end } = await serving({}, 300);
    const frozen = w.faults.hold({ client: "P", port: "inbox", call: "readAnswer" });
    const x = w.client("P").sending("x");
    expect(await w.run(end)).toBe("idle");
    w.world.clock.jump(inboxLimits.keepMs + 1);
    w.inboxes.clear(); // by age
    frozen.release();
    expect(await w.run(x)).toEqual(["unknown_outcome, side effects possible"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U06 (39): a lease item that was lost and made anew", async () => {
    const { w } = await serving();
    const adding = w.faults.hold(ADDS);
    const x = w.client("P").sending("x");
    await until(w, ADDS);
    w.leases.clear();
    const opening = w.faults.hold({ client: "P", port: "metadata" });
    await w.world.clock.advance(1_500);
    adding.release();
    await w.world.clock.advance(100);
    opening.release();
    expect(await w.run(x)).toEqual(["unknown_outcome, side effects possible"]);
    expect(await times(w, "x")).toBeLessThanOrEqual(1);
  });

  test("U07 (40, 41): a ledger that is deleted before its tenure is decided", async () => {
    const { w, r } = await serving({ segmentBytesMax: 20 });
    losesAnswers(w);
    const x = w.client("P").sending("a record that fills L1");
    await until(w, { client: "R", port: "inbox", call: "answer" });
    const [owing] = await owed(w);
    r.die();
    const frozen = w.faults.hold({ client: "P" });
    await w.world.clock.advance(limits.leaseTtlMs + 100);
    expect(await w.client("Q").append("q", "s")).toEqual(["at 1", "at 2"]);
    await w.trim(2);
    await w.audit();
    const pass = w.client("auditor").auditor.pass();
    await w.run(pass);
    expect(await w.ledgerState(owing?.ledgerId)).toBe("DELETED");
    frozen.release();
    expect(await w.run(x)).toEqual(["unknown_outcome, side effects possible"]);
    expect(await owed(w)).toHaveLength(1);
  });

  test("U22 (40): a ledger that is not closed", async () => {
    const { w } = await serving();
    const adding = w.faults.hold(ADDS);
    const x = w.client("P").sending("x");
    await until(w, ADDS);
    w.faults.hold({ client: "R", port: "lease" });
    const opening = w.faults.hold({ client: "P", port: "metadata", call: "query" });
    await w.world.clock.advance(limits.leaseTtlMs + 3_000);
    adding.release();
    await w.world.clock.advance(100);
    opening.release();
    expect((await w.run(x))[0]).toMatch(/^at /);
    expect(await times(w, "x")).toBe(1);
  });
});

describe("what goes nowhere else", () => {
  test("U11, U12 (36, 42): a batch whose ticket is in doubt, whoever has the lease or the log by now", async () => {
    const { w, r } = await serving();
    losesAnswers(w);
    const x = w.client("P").sending("x");
    await until(w, { client: "R", port: "inbox", call: "answer" });
    r.die();
    expect((await w.client("W", "west").append("w"))[0]).toMatch(/^at /);
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await times(w, "x")).toBe(1);
  });

  test("U13, U14 (40, 42): decided by the ledger that is listed, in a region that lost the log, and not won back", async () => {
    const { w, r } = await serving();
    losesAnswers(w);
    const x = w.client("P").sending("x");
    await until(w, { client: "R", port: "inbox", call: "answer" });
    r.die();
    await w.client("W", "west").append("w", "v");
    const before = await w.chain();
    expect(await w.run(x)).toEqual(["at 0"]);
    expect(await w.chain()).toEqual(before);
    expect(await times(w, "x")).toBe(1);
  });

  test("U15 (37): a request to a tenure that is over is not inherited", async () => {
    const hides = (table: InboxStore, client: string): InboxStore =>
      client !== "R"
        ? table
        : { ...through(table), requests: async () => ({ requests: [], damaged: [], isWhole: true }) };
    const { w, end } = await serving({ wrongInbox: hides }, 300);
    const x = w.client("P").sending("x");
    expect(await w.run(end)).toBe("idle");
    const looks = w.faults.hold({ client: "R2", port: "inbox", call: "requests" });
    const next = w.client("R2").appends.serveInbox(LOG, { lifeMs: 60_000, idleMs: 10_000 });
    await until(w, POSTS, 2); // the first one is settled
    looks.release();
    expect((await w.run(x))[0]).toMatch(/^at /);
    await w.world.clock.advance(5_000);
    expect(await times(w, "x")).toBe(1);
    await w.run(next);
  });
});

/** A query of everything that R may be shown. */
async function everything(w: LogWorld) {
  const lease = (await w.leaseTable("east").read(w.log))?.lease;
  if (lease?.birth === undefined) throw new Error("nobody serves");
  const { birth, tenure } = lease;
  return { birth, tenure, above: 0, requestsMax: 100, bytesMax: 1e9 };
}
