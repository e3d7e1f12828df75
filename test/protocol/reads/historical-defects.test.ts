/**
 * Defects that other implementations of speculative reading had, by their numbers in our notes. Each replays
 * what led to the defect and shows that it does not happen here.
 */
import { describe, expect, test, vi } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { orderReplicas } from "../../../lib/protocol/reads/order-replicas.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { runClosedLoop } from "../../bench/reads/closed-loop.ts";
import { CPU_BOUND, EXHAUSTIVE } from "../../cpu-bound.ts";
import { readerView } from "./reader-view.ts";
import { anyAnswer, bookieAt, inMs, nameOf, ReadingWorld, type Says, silent } from "./reading-world.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

const near = bookieAt("near", "/r1/a");
const other = bookieAt("other", "/r1/b");
const third = bookieAt("third", "/r1/c");
const far = bookieAt("far", "/r2/a");

function inRackA(): ReadingWorld {
  return new ReadingWorld({ region: region("r1"), rack: "a" });
}

test("22 (BookKeeper #4680) a late error re-enters no finished read and blames no other bookie", async () => {
  const reading = inRackA();
  const writeSet = [near, other, far];
  reading.behave(near, inMs(900, "error"));
  const read = reading.start(writeSet);
  // The caller reuses its array at once.
  writeSet.splice(0, 3, third, third, third);
  const answer = await reading.settle(read);
  expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("other");
  const average = reading.policy.health(near.id).averageMs;
  await reading.pass(5_000);
  expect(reading.asked(0)).toEqual(["near", "other"]);
  expect(reading.policy.health(near.id).averageMs).toBe(average);
  expect(reading.policy.isSuspect(third.id)).toBe(false);
});

test("23 (BookKeeper #1664) 100,000 fast reads leave no timer behind", EXHAUSTIVE, async () => {
  const reading = inRackA();
  const writeSet = [near, other, far];
  const fast = {
    writeSet,
    call: () => Promise.resolve<Says>("entry"),
    judge: anyAnswer<Says>,
  };
  for (let batch = 0; batch < 100; batch++) {
    const reads = Array.from({ length: 1_000 }, () => speculativeRead(reading.policy, fast));
    await Promise.all(reads);
  }
  expect(reading.policy.counters.answered).toBe(100_000);
  expect(reading.clock.pendingTimers).toBe(0);
  expect(reading.policy.health(near.id).inFlight).toBe(0);
});

test("24 (BookKeeper #207) a bookie that holds two slots does not hang the read", async () => {
  const reading = inRackA();
  reading.behave(near, inMs(1, "error"));
  const found = await reading.read([near, near, other]);
  expect(found.kind === "answer" && nameOf(found.bookie)).toBe("other");
  reading.behave(other, inMs(1, "nothing"));
  const none = await reading.read([near, near, other]);
  expect(none.kind === "none" && none.verdicts).toHaveLength(3);
  reading.behave(near, silent);
  expect((await reading.read([near, near])).kind).toBe("none");
});

test("25 (BookKeeper #2061) a late answer is not verified against anything", async () => {
  const reading = inRackA();
  reading.behave(near, inMs(800, "damaged copy"));
  await reading.read([near, other]);
  expect(reading.judged).toEqual(["entry"]);
  await reading.pass(2_000);
  expect(reading.judged).toEqual(["entry"]);
});

test("26 (BookKeeper #1970) no draw of lots leads outside the write set", () => {
  const writeSet = [near, other, third, far];
  for (const draw of [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
    const view = { ...readerView(writeSet, { place: "/r1" }), random: { uint32: () => draw } };
    const { order } = orderReplicas(writeSet, view);
    expect(order.map(nameOf).sort()).toEqual(["far", "near", "other", "third"]);
  }
});

test("27 (BookKeeper #1403) a write set smaller than its ensemble is ordered by itself", async () => {
  const reading = inRackA();
  const ensemble = [near, other, third, far, bookieAt("fifth", "/r2/b")];
  for (let entry = 0; entry < 20; entry++) {
    const writeSet = [0, 1].map((offset) => ensemble[(entry + offset) % 5] as BookieAddress);
    const { order } = reading.policy.order(writeSet);
    expect([...order].map(nameOf).sort()).toEqual(writeSet.map(nameOf).sort());
    expect((await reading.read(writeSet)).kind).toBe("answer");
  }
});

describe("28 (BookKeeper #709, #1489) nobody is banned", () => {
  test("one slow answer, or one in ten, makes no suspect", async () => {
    const reading = new ReadingWorld({ region: region("r1") });
    for (const bookie of [near, other, third]) {
      reading.behave(bookie, (read) => inMs(read % 10 === 0 ? 800 : 10));
    }
    await reading.readMany([near, other, third], 400);
    for (const bookie of [near, other, third]) expect(reading.policy.isSuspect(bookie.id)).toBe(false);
  });

  test("when all are slow, all are used", async () => {
    const reading = new ReadingWorld({ region: region("r1") });
    await reading.readMany([near, other, third], 300);
    for (const bookie of [near, other, third]) reading.behave(bookie, inMs(200));
    await reading.readMany([near, other, third], 90);
    const asked = [near, other, third].map(
      (bookie) => reading.calls.slice(-90).filter((call) => call.bookie === bookie).length,
    );
    for (const count of asked) expect(count).toBeGreaterThan(9);
  });

  test("a bookie that was down is back within seconds", async () => {
    const reading = new ReadingWorld({ region: region("r1") });
    const writeSet = [near, other, third];
    await reading.readMany(writeSet, 300, 10);
    reading.behave(near, silent);
    await reading.readMany(writeSet, 500, 10);
    expect(reading.policy.isSuspect(near.id)).toBe(true);
    reading.behave(near, inMs(10));
    const backMs = reading.scheduler.nowMs;
    while (reading.policy.isSuspect(near.id)) await reading.readMany(writeSet, 10, 10);
    expect(reading.scheduler.nowMs - backMs).toBeLessThan(10_000);
    const from = reading.calls.length;
    await reading.readMany(writeSet, 300, 10);
    const share = reading.calls.slice(from).filter((call) => call.bookie === near).length / 300;
    expect(share).toBeGreaterThan(0.8 / 3);
  });
});

describe("29 (BookKeeper #4478, #1120) ordering minds the write set alone", () => {
  test("a bookie that is not of the write set is not looked at", () => {
    const looked: string[] = [];
    const writeSet = [near, other];
    const view = readerView(writeSet, { place: "/r1" });
    orderReplicas(writeSet, {
      ...view,
      replicaView: (bookie) => {
        looked.push(nameOf(bookie));
        return view.replicaView(bookie);
      },
    });
    expect(looked.sort()).toEqual(["near", "other"]);
  });

  test("each replica of a large write set is looked at once", () => {
    const writeSet = Array.from({ length: 64 }, (_, index) => bookieAt(`b${index}`, `/r${index % 4}/a`));
    let looks = 0;
    const view = readerView(writeSet, { place: "/r1", classes: { "same-region": { typicalMs: 1 } } });
    orderReplicas(writeSet, {
      ...view,
      replicaView: (bookie) => {
        looks += 1;
        return view.replicaView(bookie);
      },
    });
    expect(looks).toBe(64);
  });
});

test("30 (BookKeeper #4139) a bookie known to be dead is not asked first", async () => {
  const reading = inRackA();
  reading.behave(near, inMs(1, "error"));
  await reading.readMany([near, other, far], 3);
  for (let read = 0; read < 20; read++) {
    await reading.read([near, other, far]);
    expect(reading.asked(reading.lastRead)[0]).toBe("other");
  }
});

describe("31 (BookKeeper #3127, #4193)", () => {
  test("an empty write set has an order, and a read of it an answer", async () => {
    const reading = inRackA();
    expect(reading.policy.order([])).toEqual({ order: [], sidelined: [] });
    expect((await reading.read([])).kind).toBe("none");
  });

  test.each<Says>(["error", "nothing", "damaged copy"])(
    "plain reads take note of failures: %s",
    async (says) => {
      const reading = inRackA();
      reading.behave(near, inMs(1, says));
      await reading.readMany([near, other], 3);
      expect(reading.policy.isSuspect(near.id)).toBe(true);
    },
  );
});

test("32 (reordering) no entry, failure or size of the write set loses or doubles a replica", () => {
  // The cases that lost one: three bookies with a failure, five with a failure, twenty and more in all.
  for (const size of [3, 5, 17, 20, 33, 64]) {
    const writeSet = Array.from({ length: size }, (_, index) => bookieAt(`b${index}`, `/r${index % 3}/a`));
    for (let failed = 0; failed < size; failed++) {
      const replicas = { [failed]: { isSuspect: true, predictedMs: 900 } };
      for (const place of [undefined, "/r1"]) {
        const beliefs = { ...(place === undefined ? {} : { place }), replicas, seed: failed + 1 };
        const { order } = orderReplicas(writeSet, readerView(writeSet, beliefs));
        expect(new Set(order).size).toBe(size);
      }
    }
  }
});

test("33 an answer to one entry does not keep another one of that bookie from being sent on", async () => {
  const reading = inRackA();
  const call = (entry: number) => (bookie: BookieAddress) =>
    entry === 2 && bookie === near ? new Promise<string>(() => undefined) : Promise.resolve(nameOf(bookie));
  const reads = [1, 2].map((entry) =>
    speculativeRead(reading.policy, { writeSet: [near, other], call: call(entry), judge: anyAnswer<string> }),
  );
  const answers = await reading.settle(Promise.all(reads));
  expect(answers.map((answer) => answer.kind === "answer" && answer.value)).toEqual(["near", "other"]);
  expect(reading.scheduler.nowMs).toBe(readLimits.silenceDefaultMs);
});

test("34 (Scylla #7342, Cassandra 14293) one of three killed: throughput and hedge delay hold", {
  timeout: 60_000,
}, async () => {
  const plan = { load: 0.4, policy: "ours", processes: 1, seed: 1 } as const;
  const result = await runClosedLoop({ ...plan, upForMs: 12_000, killedForMs: 24_000, settlingMs: 4_000 });
  expect(result.killedPerSecond).toBeGreaterThan(0.9 * result.offeredPerSecond);
  const [first = 0] = result.hedgeDelaysMs;
  for (const delayMs of result.hedgeDelaysMs) expect(delayMs).toBeLessThan(1.5 * first);
  expect(result.extra).toBeLessThan(0.055);
});

test("35 (Finagle #962) the loser learns at once that nobody waits, and does not try again", async () => {
  const reading = inRackA();
  let told = 0;
  let tries = 0;
  const call = async (
    bookie: BookieAddress,
    signal: { aborted: boolean; onAbort(tell: () => void): void },
  ) => {
    if (bookie !== near) return "entry";
    signal.onAbort(() => {
      told += 1;
    });
    // A client with retries of its own.
    while (!signal.aborted) {
      tries += 1;
      await new Promise<void>((resolve) => reading.scheduler.after(300, resolve));
    }
    throw new Error("given up");
  };
  const read = speculativeRead(reading.policy, {
    writeSet: [near, other],
    call,
    judge: anyAnswer,
  });
  await reading.settle(read);
  expect(told).toBe(1);
  await reading.pass(5_000);
  expect(tries).toBe(2);
});

test("36 (HDFS-16896) replicas that failed before are asked again when nothing else is left", async () => {
  const reading = inRackA();
  const writeSet = [near, other, far];
  for (const bookie of writeSet) reading.behave(bookie, inMs(1, "error"));
  for (let read = 0; read < 5; read++) expect((await reading.read(writeSet)).kind).toBe("none");
  for (const bookie of writeSet) expect(reading.policy.isSuspect(bookie.id)).toBe(true);
  reading.behave(other, inMs(10));
  const answer = await reading.read(writeSet);
  expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("other");
});
