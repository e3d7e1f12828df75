/** Runs one plan from its first event to its verdict. */

import { pause } from "../../lib/protocol/waiting.ts";
import { startActors } from "./actors/start-actors.ts";
import { checkers } from "./checkers/all-checkers.ts";
import { type Fault, isFunctionFault, isMessageFault } from "./faults.ts";
import { Judge, judgeLedgers, judgeTails } from "./judge.ts";
import { judgeAudits } from "./judge-audits.ts";
import { judgeLogs } from "./judge-logs.ts";
import { judgeTransfers } from "./judge-transfers.ts";
import type { Observer } from "./observations.ts";
import { Observers } from "./observers.ts";
import type { Plan } from "./plan.ts";
import { RunCounter, type RunCounts } from "./run-counts.ts";
import { RunTrace } from "./run-trace.ts";
import { scheduleStateFaults } from "./state-faults.ts";
import { Tripwire } from "./tripwire.ts";
import { Verdict, type Violation } from "./verdict.ts";
import { World } from "./world.ts";

export interface RunResult {
  readonly violation: Violation | undefined;
  readonly counts: RunCounts;
  /** What happened one after the other in virtual time; timers count as well. */
  readonly events: number;
  /** The whole story, line by line; empty unless asked for. */
  readonly lines: readonly string[];
}

/** After the last thaw, and before the last look. */
const AFTERMATH_MS = 60_000;

export interface RunOptions {
  readonly trace?: boolean;
  /** Events after which it is given up without a verdict. Absent: it goes on to its end. */
  readonly eventsMax?: number;
  /** Watches beside the checkers. */
  readonly watch?: (world: World) => Observer;
}

export async function runPlan(plan: Plan, options: RunOptions = {}): Promise<RunResult> {
  const verdict = new Verdict();
  const observers = new Observers();
  const world = new World(plan, observers, verdict);
  const counter = new RunCounter();
  const trace = options.trace === true ? new RunTrace(world) : undefined;
  observers.watch([
    ...(trace === undefined ? [] : [trace]),
    counter,
    world.shadow,
    ...(options.watch === undefined ? [] : [options.watch(world)]),
    ...checkers.map((checker) =>
      checker.watch(world, (what, subject) => verdict.report(checker.name, what, subject)),
    ),
  ]);
  const succeed = startActors(world);
  scheduleStateFaults(world, succeed);
  const end = scheduleJudgement(world);
  const stopWatching = watchRejections(world);
  const { scheduler } = world;
  const eventsMax = options.eventsMax ?? Number.POSITIVE_INFINITY;
  const isOver = () => end.reached || verdict.violation !== undefined || scheduler.events >= eventsMax;
  try {
    await scheduler.run(isOver, new Tripwire());
  } finally {
    stopWatching();
  }
  const { events } = scheduler;
  if (!end.reached && events < eventsMax) {
    verdict.report("liveness", `nothing can happen any more; open: ${end.open()}`);
  }
  return { violation: verdict.violation, counts: counter.counts(world), events, lines: trace?.lines ?? [] };
}

interface End {
  reached: boolean;
  open(): string;
}

/** From the calm on: everything must work in time; then the last thaw; then everything must still be there. */
function scheduleJudgement(world: World): End {
  const { plan, scheduler, observers } = world;
  let judge: Judge | undefined;
  const end: End = { reached: false, open: () => judge?.stillOpen() ?? "the judge never came" };
  const judgeAll = async () => {
    judge = new Judge(world);
    await judgeTails(judge);
    await judgeLogs(judge);
    await judgeLedgers(judge);
    await judge.demandAnswers();
    const lastThawMs = Math.max(0, ...plan.faults.map(endOfStop));
    await pause(judge.ports.clock, Math.max(0, lastThawMs - scheduler.nowMs) + AFTERMATH_MS);
    await judgeTransfers(judge);
    await judgeAudits(judge);
    await judgeLogs(judge);
    await judgeLedgers(judge);
    observers.finished();
    end.reached = true;
  };
  scheduler.at(plan.calmMs, () => judgeAll().catch((error) => world.expected(error)));
  return end;
}

/** When the process that this fault stopped goes on. */
function endOfStop(fault: Fault): number {
  if (isMessageFault(fault)) return 0;
  return isFunctionFault(fault) ? fault.thawByMs : fault.toMs;
}

/** A rejection that nobody handles is a fault of the protocol or of the simulator; either way it counts. */
function watchRejections(world: World): () => void {
  const unhandled = (reason: unknown) => {
    const stack = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    world.verdict.report("failure", `unhandled rejection: ${stack}`);
  };
  process.on("unhandledRejection", unhandled);
  return () => process.off("unhandledRejection", unhandled);
}
