/** Stories of evidence against an owner that several short-lived processes gather in one lease table. */
import { expect, test } from "vitest";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { logName, region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { OwnerFailureDetector } from "../../../lib/protocol/log/ownership/owner-failure-detector.ts";
import type { LeaseStore } from "../../../lib/protocol/ports.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { LOG, LogWorld, recordOf } from "./log-world.ts";

const east = region("east");

async function ownedByEast() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  expect(await w.client("P", "east").append("a")).toEqual(["at 0"]);
  const refuse = (client: string) =>
    w.faults.at({ client, port: "region", target: "east" }, "before", Number.POSITIVE_INFINITY, () => {
      throw unavailable("east is down", "none");
    });
  return { w, refuse };
}

const owners = async (w: LogWorld) =>
  (await w.run(w.client("T", "north").reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);

/** What processes of the west learn of the east; each has known for long that it owns the log. */
function observers(w: LogWorld, number: number, store: LeaseStore = w.leaseTable("west")) {
  const { clock } = w.world;
  const { random } = w.client("random", "west").ports;
  const all = Array.from({ length: number }, () => {
    const detector = new OwnerFailureDetector({ clock, random, leases: { store, holder: "" } });
    detector.noteOwner(w.log, east);
    return detector;
  });
  clock.jump(limits.ownerGuardMs);
  return all;
}

/** One failure in each of so many processes. Whether the last of them finds the east silent then. */
async function count(w: LogWorld, times: number, everyMs: number, store?: LeaseStore) {
  let last: OwnerFailureDetector | undefined;
  for (const detector of observers(w, times, store)) {
    await w.run(detector.countFailure(east));
    w.world.clock.jump(everyMs);
    last = detector;
  }
  return { isSilent: () => w.run(last?.isSilent(w.log, east) ?? Promise.resolve(false)) };
}

const counted = async (w: LogWorld) => (await w.leaseTable("west").readFailures(east))?.failures;

test("processes that see one failure each and are gone count together; none of them would do alone", async () => {
  const { w, refuse } = await ownedByEast();
  const patience = limits.ownerRetryPauseMs; // enough for one question
  for (let number = 0; number < limits.ownerFailuresMin; number++) {
    refuse(`Q${number}`);
    const request = { log: LOG, records: [recordOf("lost")], timeoutMs: patience };
    const error = await w.run(
      w
        .client(`Q${number}`, "west")
        .appends.append(request)
        .catch((e) => e),
    );
    expect(error).toMatchObject({ code: "not_ready", sideEffects: "none" });
    await w.world.clock.advance(limits.ownerSilenceMs / 2);
  }
  refuse("Q9");
  const started = w.world.clock.nowMs();
  expect(await w.client("Q9", "west").append("b")).toEqual(["at 1"]);
  // It has never seen this owner: it leaves it alone for a while, on its own clock (OF6).
  expect(w.world.clock.nowMs() - started).toBeGreaterThanOrEqual(limits.ownerGuardMs);
  expect(await owners(w)).toEqual(["east", "west"]);
});

test("what the others counted is enough: one that knows the owner takes over at its first failure", async () => {
  const { w, refuse } = await ownedByEast();
  const q = w.client("Q", "west");
  expect(await q.append("b")).toEqual(["at 1"]);
  await w.world.clock.advance(limits.ownerHeardMs + limits.ownerGuardMs);
  for (let number = 0; number < limits.ownerFailuresMin; number++) {
    refuse(`Q${number}`);
    const one = w.client(`Q${number}`, "west").appends;
    const request = { log: LOG, records: [recordOf("lost")], timeoutMs: limits.ownerRetryPauseMs };
    await w.run(one.append(request).catch(() => undefined));
    await w.world.clock.advance(limits.ownerSilenceMs / 2);
  }
  refuse("Q");
  const started = w.world.clock.nowMs();
  expect(await q.append("c")).toEqual(["at 2"]);
  expect(w.faults.count({ client: "Q", port: "region", call: "canOwn" })).toBeLessThan(
    limits.ownerFailuresMin,
  );
  expect(w.world.clock.nowMs() - started).toBeLessThan(limits.ownerSilenceMs);
  expect(await owners(w)).toEqual(["east", "west"]);
});

test("OF4: an answer to one process keeps the others from taking over", async () => {
  const { w } = await ownedByEast();
  const others = await count(w, 5, limits.ownerSilenceMs);
  expect(await others.isSilent()).toBe(true);
  const [answered] = observers(w, 1);
  answered?.noteAnswer(east);
  await w.run(answered?.flush() ?? Promise.resolve());
  expect(await others.isSilent()).toBe(false);
  w.world.clock.jump(limits.ownerSilenceMs);
  expect(await others.isSilent()).toBe(false);
});

test("OF4: a function tells the others what it was answered before it stands still", async () => {
  const { w } = await ownedByEast();
  await count(w, 2, 0);
  w.faults.at({ client: "Q", port: "lease" }, "before", Number.POSITIVE_INFINITY, () =>
    pause(w.world.clock, 20),
  );
  const q = w.client("Q", "west");
  expect(await q.append("b")).toEqual(["at 1"]); // forwarded
  await q.release();
  w.faults.hold({ client: "Q" }); // frozen
  expect((await counted(w))?.failures).toEqual([]);
});

test("OF1: enough failures over enough time, neither alone", async () => {
  const few = (await ownedByEast()).w;
  expect(await (await count(few, limits.ownerFailuresMin - 1, limits.ownerSilenceMs)).isSilent()).toBe(false);
  const quick = (await ownedByEast()).w;
  expect(await (await count(quick, 20, 1)).isSilent()).toBe(false);
  quick.world.clock.jump(limits.ownerSilenceMs);
  expect(await (await count(quick, 1, 0)).isSilent()).toBe(true);
  const apart = (await ownedByEast()).w;
  expect(await (await count(apart, 5, limits.ownerFailureGapMaxMs + 1)).isSilent()).toBe(false);
  const enough = (await ownedByEast()).w;
  expect(await (await count(enough, limits.ownerFailuresMin, limits.ownerSilenceMs / 2)).isSilent()).toBe(
    true,
  );
});

test("OF1: what the others counted moves no log of one that has not failed itself", async () => {
  const { w } = await ownedByEast();
  const [healthy] = observers(w, 1);
  const others = await count(w, 5, limits.ownerSilenceMs / 2);
  expect(await others.isSilent()).toBe(true);
  expect(await w.run(healthy?.isSilent(w.log, east) ?? Promise.resolve(true))).toBe(false);
  await w.run(healthy?.countFailure(east) ?? Promise.resolve());
  expect(await w.run(healthy?.isSilent(w.log, east) ?? Promise.resolve(false))).toBe(true);
});

test("OF3: a failure whose reply is lost is counted once, and rivals at once are all counted", async () => {
  const { w } = await ownedByEast();
  const inner = w.leaseTable("west");
  let lost = 0;
  const lossy: LeaseStore = {
    read: (log) => inner.read(log),
    write: (...given) => inner.write(...given),
    readFailures: (owner) => inner.readFailures(owner),
    writeFailures: async (...given) => {
      const answer = await inner.writeFailures(...given);
      if (lost++ % 2 === 0) throw unavailable("the reply is lost");
      return answer;
    },
  };
  await count(w, 1, 0, lossy);
  expect((await counted(w))?.failures).toHaveLength(1);
  const rivals = observers(w, limits.ownerFailuresMin - 1);
  await w.run(Promise.all(rivals.map((rival) => rival.countFailure(east))));
  expect((await counted(w))?.failures).toHaveLength(limits.ownerFailuresMin);
});

test("OF3: an outage that lasts writes the item once a second, and it stays fresh all the while", async () => {
  const { w } = await ownedByEast();
  const inner = w.leaseTable("west");
  let writes = 0;
  const watched: LeaseStore = {
    read: (log) => inner.read(log),
    write: (...given) => inner.write(...given),
    readFailures: (owner) => inner.readFailures(owner),
    writeFailures: (...given) => {
      writes += 1;
      return inner.writeFailures(...given);
    },
  };
  const asking = observers(w, 10, watched);
  const seconds = 60;
  for (let step = 0; step < seconds * 10; step++) {
    const detector = asking[step % asking.length];
    await w.run(detector?.countFailure(east) ?? Promise.resolve());
    w.world.clock.jump(100);
    if (step < 20) continue;
    expect(await w.run(detector?.isSilent(w.log, east) ?? Promise.resolve(false)), `step ${step}`).toBe(true);
  }
  expect(writes).toBeLessThanOrEqual(seconds + limits.ownerFailuresMin);
  expect((await counted(w))?.failures).toHaveLength(limits.ownerFailuresMin);
});

test("the next log of a silent region is taken over without counting anew", async () => {
  const { w, refuse } = await ownedByEast();
  const other = logName("other");
  const p = w.client("P", "east").appends;
  await w.run(p.createLog(other, w.config));
  const append = (appends: typeof p, log = other) => w.run(appends.append({ log, records: [recordOf("x")] }));
  await append(p);
  const q = w.client("Q", "west");
  expect(await q.append("b")).toEqual(["at 1"]);
  await append(q.appends);
  await w.world.clock.advance(limits.ownerHeardMs + limits.ownerGuardMs);
  refuse("Q");
  expect(await q.append("c")).toEqual(["at 2"]);
  expect(await owners(w)).toEqual(["east", "west"]);
  const startedMs = w.world.clock.nowMs();
  expect((await append(q.appends)).ownerRegion).toBe("west");
  expect(w.world.clock.nowMs() - startedMs).toBeLessThan(limits.ownerRetryPauseMs);
});

test("OF2: one log's appends that fail at its owner, while that answers questions, move no log", async () => {
  const { w } = await ownedByEast();
  const { clock } = w.world;
  const [q, r] = [w.client("Q", "west"), w.client("R", "west")];
  for (const client of [q, r]) expect((await client.append("b"))[0]).toMatch(/^at /);
  await clock.advance(limits.ownerGuardMs);
  for (let round = 0; round < 5; round++) {
    // All are on their way when the owner's function dies of the first, and of each of the others.
    const times = 2 * limits.ownerFailuresMin;
    const held = w.faults.hold({ client: "Q", port: "region", call: "append" }, "before", times);
    const lost: Promise<unknown>[] = [];
    for (let time = 0; time < times; time++) {
      lost.push(q.sending("lost"));
      await clock.advance(limits.ownerWatchMs / 10);
    }
    held.lose();
    await w.run(Promise.all(lost));
    await clock.advance(limits.ownerSilenceMs / 2);
    for (const client of [q, r]) expect((await client.append("b"))[0]).toMatch(/^at /);
  }
  expect(new Set(await owners(w))).toEqual(new Set(["east"]));
});

test("16: a count leaves a lease as it is, and the next process goes on in its ledger", async () => {
  const { w } = await ownedByEast();
  const [q, r] = [w.client("Q", "west"), w.client("R", "west")];
  await w.run(q.appends.transferOwner(LOG, region("west")));
  expect(await q.append("b")).toEqual(["at 1"]);
  await q.release();
  const before = await w.leaseTable("west").read(w.log);
  await count(w, 2, 0);
  expect(await w.leaseTable("west").read(w.log)).toEqual(before);
  const recoveries = w.world.trace.filter((event) => event.event === "recovery-started").length;
  expect(await r.append("c")).toEqual(["at 2"]);
  expect(w.world.trace.filter((event) => event.event === "recovery-started")).toHaveLength(recoveries);
});

test("slowness is not death: an owner that answers late, and over capacity, keeps its log", async () => {
  const { w } = await ownedByEast();
  const q = w.client("Q", "west");
  w.faults.at({ client: "Q", port: "region" }, "after", Number.POSITIVE_INFINITY, () =>
    w.world.clock.advance(0),
  );
  for (let time = 0; time < 6; time++) {
    const held = w.faults.hold({ client: "Q", port: "region", call: "canOwn" });
    const sending = q.sending(`slow${time}`);
    await w.world.clock.advance(limits.ownerAskTimeoutMs + 100);
    held.release();
    expect((await w.run(sending))[0]).toMatch(/^at /);
    await w.world.clock.advance(limits.ownerHeardMs);
  }
  expect(await owners(w)).toEqual(["east"]);
});

test("a caller without patience is no evidence: its forwarded append may merely be slow", async () => {
  const { w } = await ownedByEast();
  const q = w.client("Q", "west");
  expect(await q.append("b")).toEqual(["at 1"]);
  for (let time = 0; time < 6; time++) {
    const held = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const request = { log: LOG, records: [recordOf(`${time}`)], timeoutMs: 50 };
    const error = await w.run(q.appends.append(request).catch((reason) => reason));
    expect(error.code).toBe("unknown_outcome");
    held.release();
    await w.world.clock.advance(limits.ownerSilenceMs / 2);
  }
  expect((await owners(w)).every((owner) => owner === "east")).toBe(true);
});

test("many callers without patience at once are no evidence either", async () => {
  const { w } = await ownedByEast();
  const q = w.client("Q", "west");
  expect(await q.append("b")).toEqual(["at 1"]);
  const callers = 2 * limits.ownerFailuresMin;
  w.faults.hold({ client: "Q", port: "region", call: "append" }, "before", callers);
  const sending = Array.from({ length: callers }, (_, index) =>
    q.appends.append({ log: LOG, records: [recordOf(`${index}`)], timeoutMs: 50 }).catch((reason) => reason),
  );
  await w.run(Promise.all(sending));
  await w.world.clock.advance(limits.ownerSilenceMs);
  expect((await q.append("c"))[0]).toMatch(/^at /);
  expect((await owners(w)).every((owner) => owner === "east")).toBe(true);
});

test("an append in doubt is answered once its owner counts as silent, not when time is up", async () => {
  const { w } = await ownedByEast();
  const q = w.client("Q", "west");
  expect(await q.append("b")).toEqual(["at 1"]);
  w.faults.hold({ client: "Q", port: "region", target: "east" });
  const started = w.world.clock.nowMs();
  expect(await q.append("doubt")).toEqual(["unknown_outcome, side effects possible"]);
  expect(w.world.clock.nowMs() - started).toBeLessThan(4_500);
  expect(await q.append("c")).toEqual(["at 2"]);
  expect(w.world.clock.nowMs() - started).toBeLessThan(5_000);
});

/** Three processes of the west append at once; each new process of the owner needs a while for its start. */
async function startsColdly(startMs: number) {
  const { w } = await ownedByEast();
  const { clock } = w.world;
  const warmAtMs = clock.nowMs() + startMs;
  const askers = ["Q", "R", "S"];
  for (const client of askers) {
    w.faults.at({ client, port: "region", call: "canOwn" }, "before", Number.POSITIVE_INFINITY, () =>
      // A question that is asked meanwhile meets another new process.
      clock.nowMs() < warmAtMs ? pause(clock, startMs) : undefined,
    );
  }
  const appends = askers.map((client) => w.client(client, "west").append(client));
  for (const outcome of await Promise.all(appends)) expect(outcome[0]).toMatch(/^at /);
  return await owners(w);
}

test("an owner whose processes are slow to start keeps its log, though several ask at once", async () => {
  const startMs = limits.ownerAskTimeoutMs + limits.ownerSilenceMs - limits.ownerRetryPauseMs;
  expect(await startsColdly(startMs)).toEqual(["east"]);
});

test("one that takes longer than silence may last has lost it", async () => {
  const startMs = limits.ownerFailuresMin * (limits.ownerAskTimeoutMs + 2 * limits.ownerRetryPauseMs);
  expect(await startsColdly(startMs)).toContain("west");
});
