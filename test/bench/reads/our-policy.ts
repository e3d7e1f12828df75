/** Runs the shipped read policy over a matrix, in virtual time. */

import { bookieId, region } from "../../../lib/protocol/ids.ts";
import { ReadPolicy } from "../../../lib/protocol/reads/read-policy.ts";
import { speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import type { CallSignal } from "../../../lib/protocol/waiting.ts";
import { Scheduler } from "../../sim/scheduler.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import type { PolicyResult } from "./baselines.ts";
import { type LatencyMatrix, latencyAt } from "./latency-matrix.ts";
import { VirtualClock } from "./virtual-time.ts";

export interface OurResult extends PolicyResult {
  readonly policy: ReadPolicy;
  /** Reads that no replica answered. */
  readonly failed: number;
  /** Which replica each read asked first. */
  readonly asked: Uint8Array;
  /** Reads so far that sent a second request by hedging, a third, and so on, from the second on. */
  readonly hedgedTo: readonly number[];
  readonly pendingTimers: number;
}

/** How a replica fails: an answer after the latency drawn, none at all, or a refusal after so many ms. */
export type Refusal = (read: number, replica: number) => number | undefined;

export async function runOurs(matrix: LatencyMatrix, refusal: Refusal = () => undefined): Promise<OurResult> {
  const scheduler = new Scheduler();
  const clock = new VirtualClock(scheduler);
  const place = { region: region(matrix.layout.reader) };
  const policy = new ReadPolicy({ clock, random: new SeededRandom(7, "policy"), place });
  const writeSet = writeSetOf(matrix);
  const replicaOf = new Map(writeSet.map((bookie, replica) => [bookie.id, replica]));
  const latencyMs = new Float64Array(matrix.reads);
  const asked = new Uint8Array(matrix.reads).fill(255);
  const hedgedTo: number[] = [];
  let finished = 0;
  let failed = 0;

  const startRead = (read: number) => {
    const call = (bookie: BookieAddress, signal: CallSignal) =>
      new Promise<number>((resolve, reject) => {
        const replica = replicaOf.get(bookie.id) ?? 0;
        if (asked[read] === 255) asked[read] = replica;
        const refusedMs = refusal(read, replica);
        const answerMs = refusedMs ?? latencyAt(matrix, read, replica);
        if (answerMs === Number.POSITIVE_INFINITY) return;
        const settle = refusedMs === undefined ? () => resolve(replica) : () => reject(new Error("refused"));
        const event = scheduler.after(answerMs, settle);
        signal.onAbort(() => scheduler.cancel(event));
      });
    const startedMs = scheduler.nowMs;
    const judge = (value: number) => ({ usable: true, value }) as const;
    void speculativeRead(policy, { writeSet, call, judge }).then((answer) => {
      finished += 1;
      latencyMs[read] = scheduler.nowMs - startedMs;
      if (answer.kind === "none") failed += 1;
      for (let hedge = 0; hedge < answer.facts.hedges; hedge++) hedgedTo[hedge] = (hedgedTo[hedge] ?? 0) + 1;
    });
    const nextMs = matrix.arrivalMs[read + 1];
    if (nextMs !== undefined) scheduler.at(nextMs, () => startRead(read + 1));
  };
  scheduler.at(matrix.arrivalMs[0] ?? 0, () => startRead(0));
  await scheduler.run(() => finished === matrix.reads);
  const { attempts, probes } = policy.counters;
  const extra = (attempts + probes) / matrix.reads - 1;
  return { latencyMs, extra, policy, failed, asked, hedgedTo, pendingTimers: clock.pendingTimers };
}

export function writeSetOf(matrix: LatencyMatrix): BookieAddress[] {
  return matrix.layout.replicas.map((place, replica) => ({
    id: bookieId(`${place.region}.b${replica}~s${replica}`),
    place: { region: region(place.region), rack: place.rack },
  }));
}
