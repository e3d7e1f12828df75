import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";
import {
  anyAnswer,
  type Behaviour,
  bookieAt,
  inMs,
  nameOf,
  ReadingWorld,
  type Says,
  silent,
} from "./reading-world.ts";

// One bookie in each class, so that the order is certain.
const near = bookieAt("near", "/r1/a");
const other = bookieAt("other", "/r1/b");
const far = bookieAt("far", "/r2/a");
const set = [far, other, near];

/** A reader in rack a of r1: near, other, far. */
function world(seed = 1): ReadingWorld {
  return new ReadingWorld({ region: region("r1"), rack: "a" }, seed);
}

/** The same with enough samples for tails (5 to 15 ms), tokens in the bucket, and every bookie known. */
async function experienced(): Promise<ReadingWorld> {
  const made = world();
  for (const bookie of [near, other, far]) {
    made.behave(bookie, (read) => inMs(5 + (read % 100) / 10));
    await made.readMany([bookie], 250);
    made.behave(bookie, inMs(7));
  }
  return made;
}

describe("the first answer", () => {
  test("comes from the nearest bookie alone", async () => {
    const reading = world();
    const answer = await reading.read(set);
    expect(answer).toMatchObject({ kind: "answer", value: "entry" });
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("near");
    expect(reading.asked(0)).toEqual(["near"]);
    expect(answer.facts).toEqual({
      attempts: 1,
      hedges: 0,
      crossRegionHedges: 0,
      failovers: 0,
      winner: "same-rack",
    });
  });

  test("of no replica at all is none", async () => {
    expect(await world().read([])).toMatchObject({ kind: "none", verdicts: [] });
  });
});

describe("failover", () => {
  const useless: readonly Says[] = ["error", "nothing", "damaged copy"];

  test.each(useless)("sends the question on at once after: %s", async (says) => {
    const reading = world();
    reading.behave(near, inMs(3, says));
    const answer = await reading.read(set);
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("other");
    expect(reading.calls.map((call) => call.atMs)).toEqual([0, 3]);
    expect(answer.facts).toMatchObject({ attempts: 2, failovers: 1, hedges: 0 });
  });

  test("costs nothing: it goes on through every replica with empty buckets", async () => {
    const reading = world();
    while (reading.policy.retryBudget.trySpend(1));
    reading.behave(near, inMs(1, "error"));
    reading.behave(other, inMs(1, "error"));
    const answer = await reading.read(set);
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("far");
    expect(reading.scheduler.nowMs).toBe(12);
  });

  test("happens although another request is still open", async () => {
    const reading = await experienced();
    reading.behave(near, inMs(200, "error"));
    reading.behave(other, silent);
    const answer = await reading.read(set);
    expect(reading.asked(reading.lastRead)).toEqual(["near", "other", "far"]);
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("far");
  });

  test("a call that throws at once is a failure like any other", async () => {
    const reading = world();
    const answer = await reading.settle(
      speculativeRead(reading.policy, {
        writeSet: set,
        call: (bookie) => {
          if (bookie === near) throw new Error("no such function");
          return Promise.resolve("entry");
        },
        judge: anyAnswer,
      }),
    );
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("other");
  });

  test("none is said when every replica has failed, with what each of them said", async () => {
    const reading = world();
    reading.behave(near, inMs(1, "error"));
    reading.behave(other, inMs(2, "nothing"));
    reading.behave(far, inMs(3, "damaged copy"));
    expect(await reading.read(set)).toEqual({
      kind: "none",
      parts: [],
      verdicts: [
        { bookie: near.id, region: "r1", kind: "unknown", reason: "refused" },
        { bookie: other.id, region: "r1", kind: "answered", said: "has nothing" },
        { bookie: far.id, region: "r2", kind: "answered", said: "has damaged copy" },
      ],
      facts: { attempts: 3, hedges: 0, crossRegionHedges: 0, failovers: 2 },
    });
  });
});

describe("silence", () => {
  test("sends the question on after a default while nothing is known", async () => {
    const reading = world();
    reading.behave(near, silent);
    await reading.read(set);
    expect(reading.calls.map((call) => call.atMs)).toEqual([0, readLimits.silenceDefaultMs]);
  });

  test("is measured by the healthy pool: 3.5 times its p99", async () => {
    const reading = await experienced();
    while (reading.policy.hedgeBudget.trySpend(1));
    reading.behave(near, silent);
    const startedMs = reading.scheduler.nowMs;
    await reading.read(set);
    const sentOnMs = (reading.calls.at(-1)?.atMs ?? 0) - startedMs;
    expect(sentOnMs).toBeGreaterThan(50);
    expect(sentOnMs).toBeLessThan(54);
  });

  test("waits when the retry budget is empty, until the request is given up", async () => {
    const reading = world();
    while (reading.policy.retryBudget.trySpend(1));
    reading.behave(near, silent);
    // Ten tokens a second come in while it waits.
    const drain = () => {
      while (reading.policy.retryBudget.trySpend(1));
    };
    for (let ms = 1; ms < readLimits.attemptTimeoutMs; ms++) reading.scheduler.at(ms, drain);
    const answer = await reading.read(set);
    expect(reading.calls.map((call) => call.atMs)).toEqual([0, readLimits.attemptTimeoutMs]);
    expect(answer).toMatchObject({ kind: "answer", facts: { failovers: 1 } });
    expect(reading.policy.counters.failoversDenied).toBe(2);
  });

  test("of every replica ends the read with none, once each was given its time", async () => {
    const reading = world();
    for (const bookie of set) reading.behave(bookie, silent);
    const answer = await reading.read(set);
    expect(
      answer.kind === "none" && answer.verdicts.map((one) => one.kind === "unknown" && one.reason),
    ).toEqual(Array.from({ length: 3 }, () => "no answer in 1500 ms"));
    const perReplicaMs = readLimits.silenceDefaultMs;
    expect(reading.scheduler.nowMs).toBe(2 * perReplicaMs + readLimits.attemptTimeoutMs);
    for (const call of reading.calls) expect(call.signal.aborted).toBe(true);
    expect(reading.clock.pendingTimers).toBe(0);
  });

  test("a request whose silence was sent on has had its turn: its failure sends nothing more", async () => {
    const reading = world();
    reading.behave(near, inMs(600, "error"));
    reading.behave(other, inMs(400));
    const answer = await reading.read(set);
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("other");
    expect(reading.asked(0)).toEqual(["near", "other"]);
  });

  test("an answer that comes after the question was sent on still counts", async () => {
    const reading = world();
    reading.behave(near, inMs(600));
    reading.behave(other, silent);
    const answer = await reading.read(set);
    expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("near");
    expect(reading.scheduler.nowMs).toBe(600);
  });
});

describe("hedging", () => {
  test("races a slow answer by the next replica, when the delay says so", async () => {
    const reading = await experienced();
    reading.behave(near, inMs(500));
    const startedMs = reading.scheduler.nowMs;
    const answer = await reading.read(set);
    expect(answer.facts).toMatchObject({ attempts: 2, hedges: 1, failovers: 0, winner: "same-region" });
    const hedgedMs = (reading.calls.at(-1)?.atMs ?? 0) - startedMs;
    expect(hedgedMs).toBeGreaterThan(14);
    expect(hedgedMs).toBeLessThan(15);
  });

  test("does not happen with an empty bucket; failover does", async () => {
    const reading = await experienced();
    while (reading.policy.hedgeBudget.trySpend(1));
    reading.behave(near, inMs(500));
    const answer = await reading.read(set);
    expect(answer.facts).toMatchObject({ hedges: 0, failovers: 1 });
    expect(reading.policy.counters.hedgesDenied).toBeGreaterThan(0);
  });

  test("costs three tokens where it leaves the region", async () => {
    const reading = await experienced();
    while (reading.policy.hedgeBudget.trySpend(1));
    for (let read = 0; read < 60; read++) reading.policy.hedgeBudget.earn();
    const tokens = reading.policy.hedgeBudget.tokens;
    reading.behave(near, inMs(300));
    const answer = await reading.read([near, far]);
    expect(answer.facts).toMatchObject({ hedges: 1, crossRegionHedges: 1 });
    expect(reading.policy.hedgeBudget.tokens).toBeCloseTo(tokens + readLimits.hedgeBudget - 3);
  });

  test("does not race a healthy replica by a suspect", async () => {
    const reading = await experienced();
    reading.behave(other, inMs(1, "error"));
    for (let read = 0; read < 3; read++) await reading.read([other]);
    expect(reading.policy.isSuspect(other.id)).toBe(true);
    reading.behave(near, inMs(20));
    await reading.read([near, other]);
    expect(reading.asked(reading.lastRead).slice(0, 1)).toEqual(["near"]);
    expect(reading.policy.counters.hedges).toBe(0);
  });
});

describe("the end of a read", () => {
  test("aborts the losers and leaves no timer", async () => {
    const reading = await experienced();
    reading.behave(near, inMs(400));
    await reading.read(set);
    const [loser, winner] = reading.calls.slice(-2);
    expect(loser?.signal.aborted).toBe(true);
    expect(winner?.signal.aborted).toBe(false);
    expect(reading.clock.pendingTimers).toBe(0);
    expect(reading.policy.health(near.id).inFlight).toBe(0);
  });

  test("a judge that throws fails the read, aborts the rest and leaves no timer", async () => {
    const reading = world();
    const read = speculativeRead(reading.policy, {
      writeSet: set,
      call: () => Promise.resolve("entry"),
      judge: () => {
        throw new Error("broken digest");
      },
    });
    await expect(reading.settle(read)).rejects.toThrow("broken digest");
    expect(reading.clock.pendingTimers).toBe(0);
  });
});

describe("whatever bookies do", () => {
  const says = fc.constantFrom<Says>("entry", "nothing", "damaged copy", "error");
  const behaviour = fc.oneof(
    fc.constant<Behaviour>(silent),
    fc.tuple(fc.integer({ min: 0, max: 2_500 }), says).map(([ms, what]) => inMs(ms, what)),
  );
  const member = fc.tuple(fc.constantFrom("/r1/a", "/r1/b", "/r2/a", "/r3/a"), behaviour);

  test("a read ends once, asks each slot once, finds what is there, leaves nothing behind", {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { maxLength: 8 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.boolean(),
        async (members, seed, isExperienced) => {
          const reading = world(seed);
          const writeSet = members.map(([place], index) => bookieAt(`b${index}`, place));
          if (isExperienced && writeSet.length > 0) await reading.readMany(writeSet, 210);
          members.forEach(([, how], index) => {
            const bookie = writeSet[index];
            if (bookie !== undefined) reading.behave(bookie, how);
          });
          const answer = await reading.read(writeSet);
          const asked = reading.calls.filter((call) => call.read === reading.lastRead);
          expect(new Set(asked.map((call) => call.bookie)).size).toBe(asked.length);
          const isThere = members.some(
            ([, how]) => how !== silent && how.says === "entry" && how.afterMs < readLimits.attemptTimeoutMs,
          );
          if (isThere) expect(answer.kind).toBe("answer");
          if (answer.kind === "none") expect(answer.verdicts).toHaveLength(writeSet.length);
          expect(answer.facts.attempts).toBe(asked.length);
          expect(reading.clock.pendingTimers).toBe(0);
          for (const bookie of writeSet) expect(reading.policy.health(bookie.id).inFlight).toBe(0);
          const judged = reading.judged.length;
          await reading.pass(5_000);
          expect(reading.judged).toHaveLength(judged);
        },
      ),
      { numRuns: 40 },
    );
  });
});
