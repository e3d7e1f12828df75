/**
 * Clients that read, think, and read again, against bookies that queue: what an open loop hides is the load
 * that hedging makes for itself. Three bookies near by; one of them is killed half way.
 */

import { bookieId, region } from "../../../lib/protocol/ids.ts";
import { ReadPolicy } from "../../../lib/protocol/reads/read-policy.ts";
import { speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import type { CallSignal } from "../../../lib/protocol/waiting.ts";
import { Scheduler } from "../../sim/scheduler.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { normalDeviate, roundTripMs, s3ReadMs } from "./latency-model.ts";
import { QueueingBookie } from "./queueing-bookie.ts";
import { VirtualClock } from "./virtual-time.ts";

const home = "us-east-1";
const bookieCount = 3;
const placesPerBookie = 4;
const thinkMs = 1_000;
/** Mean service time in ms, by drawing. */
const meanServiceMs = (() => {
  const random = new SeededRandom(1, "mean service");
  let sum = 0;
  for (let draw = 0; draw < 100_000; draw++) sum += s3ReadMs(normalDeviate(random));
  return sum / 100_000;
})();

/** Reads a second that one bookie can serve. */
export const capacityPerBookie = (placesPerBookie * 1_000) / meanServiceMs;

export interface ClosedLoopResult {
  readonly offeredPerSecond: number;
  /** Reads answered a second with all bookies up, and with one killed. */
  readonly steadyPerSecond: number;
  readonly killedPerSecond: number;
  /** First hedge delays, sampled once a second from the kill on. */
  readonly hedgeDelaysMs: readonly number[];
  readonly extra: number;
}

type ReadOnce = (bookies: readonly QueueingBookie[]) => Promise<void>;

/** Reads from a bookie picked at random and waits, at most for the client's timeout. */
function withoutHedging(scheduler: Scheduler, seed: number): ReadOnce {
  const random = new SeededRandom(seed, "picks");
  return (bookies) =>
    new Promise((resolve) => {
      const timeout = scheduler.after(1_500, resolve);
      random.pick(bookies).read(() => {
        scheduler.cancel(timeout);
        resolve();
      });
    });
}

const writeSet: readonly BookieAddress[] = Array.from({ length: bookieCount }, (_, index) => ({
  id: bookieId(`${home}.b${index}~s${index}`),
  place: { region: region(home), rack: `rack-${index}` },
}));

function ours(policy: ReadPolicy): ReadOnce {
  const judge = () => ({ usable: true, value: undefined }) as const;
  return async (bookies) => {
    const call = (bookie: BookieAddress, signal: CallSignal) =>
      new Promise<void>((resolve) => {
        const read = bookies[writeSet.indexOf(bookie)]?.read(resolve);
        signal.onAbort(() => {
          if (read !== undefined) read.isCancelled = true;
        });
      });
    await speculativeRead(policy, { writeSet, call, judge });
  };
}

export interface ClosedLoopPlan {
  /** Processes that the clients are spread over; each learns for itself. */
  readonly processes: number;
  /** Share of what all three bookies can serve. */
  readonly load: number;
  readonly policy: "none" | "ours";
  /** How long all bookies are up, and how long one is killed after that. */
  readonly upForMs: number;
  readonly killedForMs: number;
  /** The first part of each phase is not measured. */
  readonly settlingMs: number;
  readonly seed: number;
}

export async function runClosedLoop(plan: ClosedLoopPlan): Promise<ClosedLoopResult> {
  const { load, seed, settlingMs, upForMs: killedMs } = plan;
  const endMs = killedMs + plan.killedForMs;
  const scheduler = new Scheduler();
  const travelMs = roundTripMs(home, home) / 2;
  const bookies = Array.from({ length: bookieCount }, (_, index) => {
    const random = new SeededRandom(seed, `bookie ${index}`);
    const serviceMs = () => s3ReadMs(normalDeviate(random));
    return new QueueingBookie({ scheduler, places: placesPerBookie, serviceMs, travelMs });
  });
  const policies = Array.from({ length: plan.processes }, (_, process) => {
    const random = new SeededRandom(seed, `policy ${process}`);
    return new ReadPolicy({ clock: new VirtualClock(scheduler), random, place: { region: region(home) } });
  });
  const waysToRead = plan.policy === "ours" ? policies.map(ours) : [withoutHedging(scheduler, seed)];
  const offeredPerSecond = load * bookieCount * capacityPerBookie;
  const clients = Math.round((offeredPerSecond * (thinkMs + meanServiceMs + 2 * travelMs)) / 1_000);
  const answered = { steady: 0, killed: 0 };

  const count = () => {
    const isKilled = scheduler.nowMs >= killedMs;
    if (scheduler.nowMs < (isKilled ? killedMs : 0) + settlingMs) return;
    answered[isKilled ? "killed" : "steady"] += 1;
  };
  for (let client = 0; client < clients; client++) {
    const random = new SeededRandom(seed, `client ${client}`);
    const think = () => scheduler.after(-Math.log(1 - random.unit()) * thinkMs, read);
    const readOnce = waysToRead[client % waysToRead.length] as ReadOnce;
    const read = () => {
      void readOnce(bookies).then(() => {
        count();
        think();
      });
    };
    think();
  }
  scheduler.at(killedMs, () => {
    for (const bookie of bookies.slice(0, 1)) bookie.isDead = true;
  });
  const hedgeDelaysMs: number[] = [];
  const sample = () => {
    hedgeDelaysMs.push(...policies.slice(0, 1).flatMap((policy) => policy.hedgeDelays(writeSet).slice(0, 1)));
    scheduler.after(1_000, sample);
  };
  scheduler.at(killedMs, sample);
  await scheduler.run(() => scheduler.nowMs >= endMs);
  const total = (count: (counters: ReadPolicy["counters"]) => number) =>
    policies.reduce((sum, { counters }) => sum + count(counters), 0);
  const reads = total((counters) => counters.reads);
  return {
    offeredPerSecond,
    steadyPerSecond: (answered.steady * 1_000) / (killedMs - settlingMs),
    killedPerSecond: (answered.killed * 1_000) / (endMs - killedMs - settlingMs),
    hedgeDelaysMs,
    extra: reads === 0 ? 0 : total(({ attempts, probes }) => attempts + probes) / reads - 1,
  };
}
