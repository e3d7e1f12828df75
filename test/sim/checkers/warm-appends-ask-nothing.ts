/**
 * A warm steady append makes no metadata request: an instance that appended to the log before, whose lease
 * was its own or came back to it clean with the ledger as it knows it, and that had no trouble meanwhile. Only
 * appends that an instance works on alone are judged: which request is whose cannot be known otherwise. What a
 * call leaves behind that was given up goes on whenever its instance runs, be it minutes later; requests about
 * another log are such a call's.
 */
import { BOOKIES_PARTITION, REGIONS_PARTITION } from "../../../lib/protocol/items.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { AppendAck } from "../../../lib/protocol/log/operations.ts";
import type { TraceEvent } from "../../../lib/protocol/trace-events.ts";
import type { FunctionCall } from "../observations.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { Checker } from "./checker.ts";

/** After something went wrong, calls that were given up may go on for so long. */
const QUIET_MS = 60_000;
/** An append that takes longer met something slow, and may leave calls behind. */
const QUICK_MS = 2_000;

/** What an instance was through; times are virtual. */
interface Instance {
  /** Partitions of the metadata requests so far. */
  readonly asked: string[];
  /** Calls under way. */
  underWay: number;
  /** The last time that there were several. */
  crowdedAt: number;
  troubleAtMs: number;
  /** The last time that a segment was opened, or another process wrote to the log. */
  newsAt: number;
  /** The append before: its log, the segment that it went to, and when it was answered. */
  last:
    | { readonly log: string; readonly epoch: number; readonly at: number; readonly atMs: number }
    | undefined;
}

interface Begun {
  readonly askedBefore: number;
  readonly at: number;
  readonly atMs: number;
  readonly before: Instance["last"];
}

const TROUBLE: ReadonlySet<TraceEvent["event"]> = new Set<TraceEvent["event"]>([
  "bookie-failed",
  "writer-stopped",
  "recovery-failed",
  "ensemble-changed",
  "ensemble-change-refused",
  "ledger-abandoned",
  "lease-lost",
]);
const NEWS: ReadonlySet<TraceEvent["event"]> = new Set<TraceEvent["event"]>([
  "segment-opened",
  "ledger-closed",
  "recovery-started",
]);

export const warmAppendsAskNothing: Checker = {
  name: "warm-appends-ask-nothing",
  watch(world, report) {
    const instances = new Map<SimulatedProcess, Instance>();
    const begun = new Map<FunctionCall, Begun>();
    const incarnations = new Map<string, string>();
    const isOfAnother = (partition: string, log: string): boolean => {
      const [kind, whose] = partition.split("#");
      if (kind === "name") return whose !== log;
      return (kind === "segments" || kind === "log") && whose !== incarnations.get(log);
    };
    // There an instance also decides and waits for what it posted: which request is whose cannot be known.
    const hasInbox = world.plan.functions?.some(({ residents }) => residents !== undefined) === true;
    let moment = 0;
    const of = (process: SimulatedProcess): Instance => {
      const known = instances.get(process);
      if (known !== undefined) return known;
      const troubleAtMs = Number.NEGATIVE_INFINITY;
      const fresh = { asked: [], underWay: 0, crowdedAt: 0, troubleAtMs, newsAt: 0, last: undefined };
      instances.set(process, fresh);
      return fresh;
    };

    const ended = (call: FunctionCall, ack: AppendAck) => {
      const instance = of(call.process);
      const start = begun.get(call);
      const { nowMs } = world.scheduler;
      const log = call.request?.log ?? "";
      const before = start?.before;
      if (start === undefined || ack.duplicate || hasInbox) return;
      if (nowMs - start.atMs > QUICK_MS) instance.troubleAtMs = nowMs;
      instance.last = { log, epoch: ack.epoch, at: ++moment, atMs: nowMs };
      if (before?.log !== log || before.epoch !== ack.epoch || ack.ownerRegion !== call.process.region)
        return;
      const isSteady =
        instance.newsAt < before.at &&
        instance.crowdedAt < start.at &&
        nowMs - instance.troubleAtMs > QUIET_MS &&
        nowMs - before.atMs < limits.metadataAgeMaxMs / 2;
      const asked = instance.asked.slice(start.askedBefore).filter((one) => !isOfAnother(one, log));
      if (isSteady && asked.length > 0) {
        report(`${call.process.name} asked ${asked.length} times in a warm append`, log);
      }
    };

    return {
      metadataAsked(process, partition) {
        // The registry is read beside the requests, now and then.
        if (partition !== REGIONS_PARTITION && partition !== BOOKIES_PARTITION) {
          of(process).asked.push(partition);
        }
      },
      metadataChanged({ after }) {
        if (after?.item.kind === "log-name" && after.item.incarnation !== undefined) {
          incarnations.set(after.item.name, after.item.incarnation);
        }
      },
      emitted({ event }, process) {
        if (TROUBLE.has(event)) of(process).troubleAtMs = world.scheduler.nowMs;
        if (NEWS.has(event)) of(process).newsAt = ++moment;
      },
      leaseChanged({ region, before, after, process }) {
        if (before?.tenure === after.tenure) return;
        for (const [other, instance] of instances) {
          if (other !== process && other.region === region) instance.newsAt = ++moment;
        }
        if (before?.clean !== true) of(process).newsAt = ++moment;
      },
      functionCalled(call, outcome) {
        const instance = of(call.process);
        moment++;
        instance.underWay += outcome.kind === "began" ? 1 : -1;
        if (instance.underWay > 1) instance.crowdedAt = moment;
        if (outcome.kind === "failed") instance.troubleAtMs = world.scheduler.nowMs;
        if (call.kind !== "append") {
          if (call.kind !== "canOwn") instance.newsAt = moment;
          return;
        }
        if (outcome.kind === "began") {
          const askedBefore = instance.asked.length;
          const before = instance.last;
          const at = instance.underWay > 1 ? Number.NEGATIVE_INFINITY : moment;
          begun.set(call, { askedBefore, at, atMs: world.scheduler.nowMs, before });
          return;
        }
        const ack = ackOf(outcome);
        if (ack === undefined) instance.troubleAtMs = world.scheduler.nowMs;
        else ended(call, ack);
        begun.delete(call);
      },
    };
  },
};

function ackOf(outcome: { readonly kind: string; readonly value?: unknown }): AppendAck | undefined {
  if (outcome.kind !== "answered") return undefined;
  const { kind, ack } = outcome.value as { kind?: string; ack?: AppendAck };
  return kind === undefined ? (outcome.value as AppendAck) : ack;
}
