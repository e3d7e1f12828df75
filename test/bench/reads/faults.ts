/** Foul weather on the fixed layout: the same reads, with something broken from one moment on. */
import { SeededRandom } from "../../sim/seeded-random.ts";
import { noHedging, type PolicyResult } from "./baselines.ts";
import { atLeast, atMost, type Gate } from "./gates.ts";
import { drawMatrix, fixedLayout, type LatencyMatrix, withFault } from "./latency-matrix.ts";
import { type OurResult, type Refusal, runOurs } from "./our-policy.ts";
import { percentilesOf } from "./percentiles.ts";
import type { Section } from "./steady.ts";
import { latencyHead, latencyRow, share, table } from "./table.ts";

const readsPerSecond = 100;
/** When the fault begins, by read, and when the dead bookie comes back. */
const faultAt = 10_000;
const deadUntil = 20_000;
/** Reads after which a dead bookie, and seconds after which a slow one, must be dealt with. */
const deadReads = 200;
const windowSeconds = 24;

interface FaultRun {
  readonly none: PolicyResult;
  readonly ours: OurResult;
}

export async function faultSection(reads: number, seed: number): Promise<Section> {
  const matrix = drawMatrix({ layout: fixedLayout, reads, readsPerSecond, seed });
  const afterWindow = faultAt + windowSeconds * readsPerSecond;
  const isLocal = (replica: number) => fixedLayout.replicas[replica]?.region === fixedLayout.reader;
  const lots = fixedLayout.replicas.map((_, replica) => uniform(reads, seed, replica));
  const lot = (read: number, replica: number) => lots[replica]?.[read] ?? 1;

  const steady = await run(matrix);
  const dead = await run(
    withFault(matrix, (read, replica, ms) =>
      replica === 0 && read >= faultAt ? Number.POSITIVE_INFINITY : ms,
    ),
  );
  const slow = await run(
    withFault(matrix, (read, replica, ms) =>
      replica === 0 && read >= faultAt && lot(read, replica) < 0.3 ? 30 * ms : ms,
    ),
  );
  const cut = await run(matrix, (read, replica) => (replica === 0 && read >= faultAt ? 6 : undefined));
  const partBrownout = await run(
    withFault(matrix, (read, replica, ms) =>
      isLocal(replica) && read >= faultAt && lot(read, replica) < 0.2 ? 10 * ms : ms,
    ),
  );
  const fullBrownout = await run(
    withFault(matrix, (read, replica, ms) => (isLocal(replica) && read >= faultAt ? 4 * ms : ms)),
  );
  const back = await run(
    withFault(matrix, (read, replica, ms) =>
      replica === 0 && read >= faultAt && read < deadUntil ? Number.POSITIVE_INFINITY : ms,
    ),
  );
  const regionLost = await run(
    withFault(matrix, (read, replica, ms) =>
      isLocal(replica) && read >= faultAt ? Number.POSITIVE_INFINITY : ms,
    ),
  );

  const rows = [
    ...rowsOf("steady", steady, faultAt),
    ...rowsOf("one bookie dead, from the 200th read on", dead, faultAt + deadReads),
    ...rowsOf("one bookie 30 times slower on 30 %, after one window", slow, afterWindow),
    ...rowsOf("the route to one bookie cut, from the first read on", cut, faultAt),
    ...rowsOf("region browned out: 20 % of its reads 10 times slower", partBrownout, faultAt),
    ...rowsOf("region browned out: all of its reads 4 times slower", fullBrownout, faultAt),
    ...rowsOf("region lost, after one window", regionLost, afterWindow),
  ];
  const bookieShare = shareOf(back.ours, 0, deadUntil + 30 * readsPerSecond, deadUntil + 60 * readsPerSecond);
  const fair = 1 / 3;
  const title = `Faults: ${reads} reads, ${readsPerSecond} a second, broken from read ${faultAt} on`;
  const text =
    table(title, [...latencyHead, "failed"], rows) +
    `a bookie back after 100 s is asked first, 30 to 60 s later, by ${share(bookieShare)} of the reads; ` +
    `a fair share is ${share(fair)}\n`;
  const p99 = (result: PolicyResult, from: number) => percentilesOf(result.latencyMs.subarray(from)).p99;
  const p50 = (result: PolicyResult) => percentilesOf(result.latencyMs.subarray(faultAt)).p50;
  const against = (one: FaultRun, from: number) => p99(one.ours, from) / p99(steady.ours, from);
  const brownouts = [partBrownout, fullBrownout];
  const gates: Gate[] = [
    atMost("p99 over steady, one bookie dead, after 200 reads", against(dead, faultAt + deadReads), 1.2),
    atMost("p99 over steady, one bookie slow, after one window", against(slow, afterWindow), 1.3),
    atMost("p99 over steady, one route cut", against(cut, faultAt), 1.2),
    atMost("reads failed, one route cut or one bookie dead", cut.ours.failed + dead.ours.failed, 0),
    atMost("extra requests, region browned out", Math.max(...brownouts.map(({ ours }) => ours.extra)), 0.055),
    atMost(
      "p50 over no hedging, region browned out",
      Math.max(...brownouts.map(({ ours, none }) => p50(ours) / p50(none))),
      1.01,
    ),
    atLeast("share of a recovered bookie, 30 s on", bookieShare / fair, 0.8),
    atMost("reads failed, region lost", regionLost.ours.failed, 0),
  ];
  return { text, gates };
}

async function run(matrix: LatencyMatrix, refusal?: Refusal): Promise<FaultRun> {
  const ours = await runOurs(matrix, refusal);
  return { none: noHedging(refusal === undefined ? matrix : refused(matrix, refusal)), ours };
}

/** Without failover a refused read waits for its client's own timeout. */
function refused(matrix: LatencyMatrix, refusal: Refusal): LatencyMatrix {
  return withFault(matrix, (read, replica, ms) =>
    refusal(read, replica) === undefined ? ms : Number.POSITIVE_INFINITY,
  );
}

function rowsOf(name: string, { none, ours }: FaultRun, from: number): string[][] {
  const cut = <R extends PolicyResult>(result: R) => ({
    ...result,
    latencyMs: result.latencyMs.subarray(from),
  });
  return [
    [...latencyRow(`${name}: none`, cut(none)), ""],
    [...latencyRow(`${name}: ours`, cut(ours)), String(ours.failed)],
  ];
}

/** The share of the reads in [from, to) that asked `replica` first. */
function shareOf({ asked }: OurResult, replica: number, from: number, to: number): number {
  const reads = asked.subarray(from, to);
  return reads.filter((first) => first === replica).length / reads.length;
}

function uniform(reads: number, seed: number, replica: number): Float64Array {
  const random = new SeededRandom(seed, `fault ${replica}`);
  return Float64Array.from({ length: reads }, () => random.unit());
}
