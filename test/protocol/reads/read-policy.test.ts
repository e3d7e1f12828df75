import { describe, expect, test, vi } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { CPU_BOUND } from "../../cpu-bound.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { bookieAt, inMs, nameOf, ReadingWorld, silent } from "./reading-world.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

const racks = ["a", "b", "c", "d", "e", "f"].map((rack) => bookieAt(rack, `/r1/${rack}`));
const three = racks.slice(0, 3);
const far = bookieAt("far", "/r2/a");

/**
 * Reads at random intervals without waiting for the last one, as many as asked for; `draw` makes the latencies.
 */
async function load(
  reading: ReadingWorld,
  writeSet: readonly BookieAddress[],
  reads: number,
  draw: (random: SeededRandom, bookie: BookieAddress) => number,
): Promise<number[]> {
  for (const bookie of writeSet) {
    const random = new SeededRandom(1, bookie.id);
    reading.behave(bookie, () => inMs(draw(random, bookie)));
  }
  const arrivals = new SeededRandom(1, "arrivals");
  const hedgesPerRead: number[] = [];
  const open: Promise<void>[] = [];
  for (let read = 0; read < reads; read++) {
    open.push(reading.start(writeSet).then(({ facts }) => void hedgesPerRead.push(facts.hedges)));
    await reading.pass(-Math.log(1 - arrivals.unit()) * 10);
  }
  await reading.settle(Promise.all(open));
  return hedgesPerRead;
}

describe("the decay law: the n-th request is sent with probability at most B^(n-1)", () => {
  const heavy = (random: SeededRandom) => (random.chance(0.04) ? 200 : 15) * -Math.log(1 - random.unit()) + 1;
  const light = (random: SeededRandom) => random.between(5, 60);
  const broken = (random: SeededRandom) => (random.chance(0.2) ? 700 : 12);

  test.each([
    ["a heavy tail", heavy],
    ["a light tail", light],
    ["one in five broken", broken],
  ])("%s", { timeout: 60_000 }, async (_, draw) => {
    const reading = new ReadingWorld({ region: region("r1") });
    const reads = 4_000;
    const hedges = await load(reading, racks, reads, draw);
    const share = (n: number) => hedges.filter((count) => count >= n - 1).length / reads;
    const { hedgeBudget } = readLimits;
    expect(share(2)).toBeLessThanOrEqual(hedgeBudget + 1e-9);
    // Chance: three standard deviations.
    const allowed = (p: number) => p + 3 * Math.sqrt(p / reads);
    expect(share(3)).toBeLessThanOrEqual(allowed(hedgeBudget ** 2));
    expect(share(4)).toBeLessThanOrEqual(allowed(hedgeBudget ** 3));
    const { attempts, probes, failovers } = reading.policy.counters;
    expect((attempts + probes - failovers) / reads - 1).toBeLessThanOrEqual(hedgeBudget + 1e-9);
  });
});

describe("a suspect", () => {
  async function withOneDown(): Promise<ReadingWorld> {
    const reading = new ReadingWorld({ region: region("r1") });
    await reading.readMany(three, 300, 10);
    reading.behave(three[0] as BookieAddress, silent);
    await reading.readMany(three, 100, 10);
    return reading;
  }

  test("is asked last, and no read waits for its probes", async () => {
    const reading = await withOneDown();
    expect(reading.policy.isSuspect((three[0] as BookieAddress).id)).toBe(true);
    const before = reading.policy.counters.probes;
    for (let read = 0; read < 500; read++) {
      const startedMs = reading.scheduler.nowMs;
      const answer = await reading.read(three);
      expect(answer.facts).toMatchObject({ attempts: 1 });
      expect(reading.scheduler.nowMs - startedMs).toBe(10);
      await reading.pass(10);
    }
    const probes = reading.policy.counters.probes - before;
    expect(probes).toBeGreaterThan(1);
    // Ten seconds, with pauses that grow to four.
    expect(probes).toBeLessThan(8);
  });

  test("is probed out of the hedge budget", async () => {
    const reading = await withOneDown();
    await reading.readMany(three, 2_000, 10);
    const { probes, hedges, reads } = reading.policy.counters;
    expect(probes).toBeGreaterThan(5);
    expect(probes + hedges).toBeLessThanOrEqual(readLimits.hedgeBudget * reads);
    expect(reading.clock.pendingTimers).toBe(0);
  });

  test("a probe that hangs is found out and given up; it is not counted in flight for ever", async () => {
    const reading = await withOneDown();
    const dead = three[0] as BookieAddress;
    await reading.readMany(three, 1_000, 10);
    const probes = reading.calls.filter((call) => call.bookie === dead && call.atMs > 10_000);
    expect(probes.length).toBeGreaterThan(1);
    for (const probe of probes.slice(0, -1)) expect(probe.signal.aborted).toBe(true);
    expect(reading.policy.health(dead.id).inFlight).toBeLessThanOrEqual(1);
  });

  test("with no reads to pay for probes it gets a trial after ten seconds", async () => {
    const reading = await withOneDown();
    reading.behave(three[0] as BookieAddress, inMs(10));
    while (reading.policy.hedgeBudget.trySpend(1));
    await reading.pass(readLimits.suspicionMs);
    expect(reading.policy.isSuspect((three[0] as BookieAddress).id)).toBe(false);
  });
});

describe("a class of bookies", () => {
  const set = [...three, far];
  const countFirst = (reading: ReadingWorld, reads: number, name: string) => {
    const from = reading.lastRead - reads + 1;
    let count = 0;
    for (let read = from; read <= reading.lastRead; read++) if (reading.asked(read)[0] === name) count += 1;
    return count;
  };

  test("that suffers as a whole is passed over, once that is sure, and taken back", async () => {
    const reading = new ReadingWorld({ region: region("r1") });
    reading.behave(far, inMs(50));
    await reading.readMany(set, 400, 10);
    expect(countFirst(reading, 400, "far")).toBe(0);
    for (const bookie of three) reading.behave(bookie, inMs(200));
    await reading.readMany(set, 900, 10);
    expect(countFirst(reading, 100, "far")).toBe(100);
    for (const bookie of three) reading.behave(bookie, inMs(10));
    await reading.readMany(set, 2_000, 10);
    expect(countFirst(reading, 100, "far")).toBe(0);
  });

  test("that is dead is left at once, although its class is all there is near by", async () => {
    const reading = new ReadingWorld({ region: region("r1") });
    reading.behave(far, inMs(50));
    await reading.readMany([three[0] as BookieAddress, far], 300, 10);
    // The far one gets known.
    for (let read = 0; read < 5; read++) await reading.read([far]);
    reading.behave(three[0] as BookieAddress, silent);
    await reading.readMany([three[0] as BookieAddress, far], 30, 10);
    expect(countFirst(reading, 10, "far")).toBe(10);
  });
});

describe("a frozen process", () => {
  async function experienced(): Promise<ReadingWorld> {
    const reading = new ReadingWorld({ region: region("r1") });
    await load(reading, three, 800, (random) => random.between(5, 40));
    return reading;
  }

  test("an hour-old sketch is no evidence: thresholds are those of a new process", async () => {
    const reading = await experienced();
    const latencies = reading.policy.latencies("same-region");
    expect(latencies.thresholds().survival).toBeDefined();
    expect(reading.policy.hedgeDelays(three)[0]).toBeLessThan(45);
    reading.clock.freeze(3_600_000);
    expect(latencies.thresholds()).toMatchObject({ silenceMs: readLimits.silenceDefaultMs });
    expect(latencies.thresholds().survival).toBeUndefined();
    expect(latencies.thresholds().medianMs).toBeUndefined();
    expect(reading.policy.hedgeDelays(three)[0]).toBe(readLimits.hedgeDelayDefaultMs);
  });

  test("how far away a class is, is remembered", async () => {
    const reading = await experienced();
    reading.clock.freeze(3_600_000);
    const memoryMs = reading.policy.latencies("same-region").memoryMs ?? 0;
    expect(memoryMs).toBeGreaterThan(10);
    expect(memoryMs).toBeLessThan(30);
  });

  test("an hour-old suspicion is dropped, an hour-old average has faded", async () => {
    const reading = await experienced();
    const [down, slow] = [racks[0] as BookieAddress, racks[1] as BookieAddress];
    reading.behave(down, silent);
    reading.behave(slow, inMs(300));
    await reading.readMany(three, 60);
    expect(reading.policy.isSuspect(down.id)).toBe(true);
    reading.clock.freeze(3_600_000);
    expect(reading.policy.isSuspect(down.id)).toBe(false);
    const health = reading.policy.health(slow.id);
    expect(health.predictedMs(20, 400)).toBeLessThan(60);
  });

  test("what was in flight is no evidence: neither latency nor silence nor timeout", async () => {
    const reading = await experienced();
    const before = reading.policy.latencies("same-region").thresholds().silenceMs;
    reading.behave(three[0] as BookieAddress, inMs(200));
    const reads = Array.from({ length: 20 }, () => reading.start(three));
    await reading.pass(1);
    reading.clock.freeze(10_000);
    await reading.settle(Promise.all(reads));
    for (const bookie of three) expect(reading.policy.isSuspect(bookie.id)).toBe(false);
    expect(reading.policy.latencies("same-region").thresholds().silenceMs).toBeLessThanOrEqual(before * 1.05);
    expect(reading.clock.pendingTimers).toBe(0);
  });

  test("what was in flight gets its time again", async () => {
    const reading = new ReadingWorld({ region: region("r1") });
    // Later than the timeout, which fires first after the thaw.
    reading.behave(three[0] as BookieAddress, inMs(readLimits.attemptTimeoutMs + 50));
    const read = reading.start([three[0] as BookieAddress]);
    await reading.pass(100);
    reading.clock.freeze(3_600_000);
    expect((await reading.settle(read)).kind).toBe("answer");
  });

  test("a freeze earns no hedges", async () => {
    const reading = await experienced();
    const { tokens } = reading.policy.hedgeBudget;
    reading.clock.freeze(3_600_000);
    expect(reading.policy.hedgeBudget.tokens).toBeLessThanOrEqual(tokens);
  });
});

test("health is remembered of a bounded number of bookies", async () => {
  const reading = new ReadingWorld({ region: region("r1") });
  const busy = reading.policy.begin(far);
  for (let number = 0; number < 3 * readLimits.replicasMax; number++) {
    reading.policy.health(bookieAt(`x${number}`, "/r1/a").id);
  }
  expect(reading.policy.replicasKnown).toBeLessThanOrEqual(readLimits.replicasMax);
  expect(reading.policy.health(far.id).inFlight).toBe(1);
  busy.answered();
});

test("counters tell what reading cost and where answers came from", async () => {
  const reading = new ReadingWorld({ region: region("r1"), rack: "a" });
  reading.behave(racks[0] as BookieAddress, inMs(1, "error"));
  await reading.read([racks[0] as BookieAddress, racks[1] as BookieAddress]);
  for (const bookie of [racks[0] as BookieAddress, far]) reading.behave(bookie, inMs(1, "nothing"));
  await reading.read([racks[0] as BookieAddress, far]);
  reading.behave(far, inMs(5));
  const answer = await reading.read([far]);
  expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("far");
  const { counters } = reading.policy;
  expect(counters).toMatchObject({ reads: 3, answered: 2, attempts: 5, failovers: 2, hedges: 0 });
  expect(Object.fromEntries(counters.wins)).toEqual({ "same-region": 1, "region r2": 1 });
});
