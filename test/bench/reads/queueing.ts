/**
 * Bookies that queue: what hedging does to the load it runs under, and after one of three bookies is killed.
 */
import { type ClosedLoopResult, capacityPerBookie, runClosedLoop } from "./closed-loop.ts";
import { atLeast, atMost } from "./gates.ts";
import type { Section } from "./steady.ts";
import { share, table } from "./table.ts";

/**
 * Shares of what all three bookies can serve, read by one process and by several that know only themselves.
 */
const runs = [
  { load: 0.4, processes: 1 },
  { load: 0.6, processes: 1 },
  { load: 0.8, processes: 1 },
  { load: 0.6, processes: 8 },
];

const phases = { upForMs: 60_000, killedForMs: 210_000, settlingMs: 15_000 };

export async function queueingSection(seed: number): Promise<Section> {
  const rows: string[][] = [];
  const kept: number[] = [];
  const survived: number[] = [];
  const drifts: number[] = [];
  const extras: number[] = [];
  for (const { load, processes } of runs) {
    const none = await runClosedLoop({ ...phases, load, policy: "none", processes: 1, seed });
    const ours = await runClosedLoop({ ...phases, load, policy: "ours", processes, seed });
    const possible = Math.min(ours.offeredPerSecond, 2 * capacityPerBookie);
    kept.push(ours.steadyPerSecond / none.steadyPerSecond);
    survived.push(ours.killedPerSecond / possible);
    drifts.push(drift(ours));
    extras.push(ours.extra);
    rows.push([
      `load ${load * 100} %, processes: ${processes}`,
      none.steadyPerSecond.toFixed(1),
      ours.steadyPerSecond.toFixed(1),
      none.killedPerSecond.toFixed(1),
      ours.killedPerSecond.toFixed(1),
      possible.toFixed(1),
      hedgeDelayFrom(ours, 30).toFixed(0),
      hedgeDelayFrom(ours, 120).toFixed(0),
      share(ours.extra),
    ]);
  }
  const head = ["", "none /s", "ours /s", "none, killed", "ours, killed", "possible"];
  head.push("T2 from 30 s", "from 120 s", "extra");
  const gates = [
    atLeast("throughput over no hedging, closed loop, worst load", Math.min(...kept), 0.98),
    atLeast(
      "throughput with one of three killed, of what is possible, worst load",
      Math.min(...survived),
      0.95,
    ),
    atMost(
      "hedge delay from 120 s after the kill on, over that from 30 s on, worst load",
      Math.max(...drifts),
      1.1,
    ),
    atMost("extra requests, closed loop, worst load", Math.max(...extras), 0.055),
  ];
  return { text: table("Closed loop with queues: three bookies, one killed half way", head, rows), gates };
}

const drift = (result: ClosedLoopResult): number => hedgeDelayFrom(result, 120) / hedgeDelayFrom(result, 30);

/** Mean of the 90 s from `second` on, counted from the kill. */
function hedgeDelayFrom({ hedgeDelaysMs }: ClosedLoopResult, second: number): number {
  const part = hedgeDelaysMs.slice(second, second + 90);
  return part.reduce((sum, delay) => sum + delay, 0) / part.length;
}
