/** Stories of a log's inbox: one process serves, the others post to it (rules 36 to 42). */
import { expect, test } from "vitest";
import { LOG, LogWorld, told } from "./log-world.ts";

const world = () => LogWorld.make({ leases: true, inbox: true });
const times = { lifeMs: 60_000, idleMs: 2_000 };

test("what many processes post to a resident is recorded once each, and answered", async () => {
  const w = await world();
  const resident = w.client("R").appends.serveInbox(LOG, times);
  await w.world.clock.advance(100);
  const texts = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const answers = await w.run(Promise.all(texts.map((text) => w.client(text).sending(text))));
  expect(new Set(answers.flat())).toEqual(new Set(texts.map((_, index) => `at ${index}`)));
  expect((await w.client("T", "west").read(0)).sort()).toEqual([...texts].sort());
  expect(w.faults.count({ port: "inbox", call: "post" })).toBe(30);
  expect(w.faults.count({ client: "R", call: "add" })).toBeLessThan(30); // group commit
  expect(await w.run(resident)).toBe("idle");
});

/** How many ledgers were recovered so far. */
const recoveries = (w: LogWorld) =>
  w.world.trace.filter((event) => event.event === "recovery-started").length;

/** R serves in the east. */
async function serving() {
  const w = await world();
  const r = w.client("R");
  const end = r.appends.serveInbox(LOG, times);
  await w.world.clock.advance(100);
  return { w, r, end };
}

test("a process that does not write the log settles by post: nobody is fenced", async () => {
  const { w, end } = await serving();
  await w.client("P").append("a");
  await w.run(w.client("Q").appends.settle(LOG));
  expect(w.world.trace.filter(({ event }) => event === "tail-settled")).toMatchObject([
    { how: "control-entry" },
  ]);
  expect(await w.client("P").append("b")).toEqual(["at 1"]);
  expect(recoveries(w)).toBe(0);
  expect(await w.run(end)).toBe("idle");
});

test("conditions and senders by post: judged where the log is written", async () => {
  const { w } = await serving();
  const p = w.client("P");
  const send = (text: string, match?: number, key?: string) =>
    w.run(told(p.sendingBatch([text], match, key)));
  expect(await send("a", 0)).toBe("at 0");
  expect(await send("b", 0)).toBe("seq_num_mismatch, side effects none");
  expect(await send("k", 1, "key")).toBe("at 1");
  expect(await send("k", 1, "key")).toBe("at 1");
  expect(await send("c", 2)).toBe("at 2");
  expect((await w.run(p.sendingBatch(["d"]))).durableIn).toBeUndefined();
  expect(await w.client("T", "west").read(0)).toEqual(["a", "k", "c", "d"]);
});

test("a ledger that is full is followed by another one, listed in its place", async () => {
  const w = await LogWorld.make({ leases: true, inbox: true, segmentBytesMax: 40 });
  void w.client("R").appends.serveInbox(LOG, times);
  await w.world.clock.advance(100);
  for (let index = 0; index < 12; index++) {
    expect(await w.client(`P${index}`).append(`record ${index}`)).toEqual([`at ${index}`]);
  }
  expect(Object.keys(await w.chain()).length).toBeGreaterThan(2);
  const lease = (await w.leaseTable("east").read(w.log))?.lease;
  expect(lease?.owed).toHaveLength(1);
  expect(lease?.owed[0]?.ledgerId).toBe(Object.values(await w.chain()).at(-1));
});

test("a resident that ends answers first, owes nothing, and leaves its ledger open for the next one", async () => {
  const { w, end } = await serving();
  await w.client("P").append("a");
  expect(await w.run(end)).toBe("idle");
  expect((await w.leaseTable("east").read(w.log))?.lease).toMatchObject({ owed: [], clean: true });
  expect(await w.client("Q").append("b")).toEqual(["at 1"]);
  expect(recoveries(w)).toBe(0);
});

test("one that finds another process serving ends at once", async () => {
  const { w } = await serving();
  expect(await w.run(w.client("R2").appends.serveInbox(LOG, times))).toBe("elsewhere");
});

test("another region takes the log over: what was posted is decided by the ledger that it closed", async () => {
  const w = await LogWorld.make({ leases: true, inbox: true });
  void w.client("R").appends.serveInbox(LOG, times);
  await w.world.clock.advance(100);
  const held = w.faults.hold({ client: "R", port: "bookie", call: "add" });
  const posted = w.client("P").sending("a");
  while (held.calls.length === 0) await w.world.clock.advance(10);
  const west = w.client("W", "west");
  expect((await west.append("w"))[0]).toMatch(/^at /);
  held.release();
  const [answer = ""] = await w.run(posted);
  const log = await w.client("T", "north").read(0);
  expect(log.filter((text) => text === "a")).toHaveLength(answer.startsWith("at ") ? 1 : 0);
});
