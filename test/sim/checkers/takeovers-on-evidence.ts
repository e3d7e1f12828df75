/**
 * A region's function takes a log over from another region only if that region left questions of the taker's
 * region without answers, enough of them in a stretch of time and one of the taker's own among them, whichever
 * log they were about; or if it said that it cannot own logs. Nothing else is silence: a refusal and "too much
 * to do" are answers, and an append that failed or was slow says nothing. An answer that comes when its asker
 * waits no more is none. An owner may also hand a log over, and operators may have given its region up.
 * (Old-style writers know no other region and are left out.)
 */
import type { LedgerId, Region } from "../../../lib/protocol/ids.ts";
import { regionKey } from "../../../lib/protocol/items.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { chainBefore } from "../chain-before.ts";
import type { RegionCall } from "../observations.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

/** Evidence may be as old as an append can take that began on it, and waited for a lease. */
const EVIDENCE_MS = 2 * limits.appendDeadlineMs;

/** What one region heard of another. */
interface Heard {
  /** When questions were asked of which no answer has come yet. */
  readonly silent: Map<RegionCall, number>;
  cannotOwnAtMs: number;
  /** The last time that its silence was evidence. */
  silentAtMs: number;
}

export const takeoversOnEvidence: Checker = {
  name: "takeovers-on-evidence",
  watch(world, report) {
    const all = new Map<string, Heard>();
    const heardOf = (by: Region, of: Region): Heard => {
      const known = all.get(`${by} ${of}`);
      if (known !== undefined) return known;
      const never = Number.NEGATIVE_INFINITY;
      const heard = { silent: new Map(), cannotOwnAtMs: never, silentAtMs: never };
      all.set(`${by} ${of}`, heard);
      return heard;
    };
    /** Of segments that were taken from a region without a reason: that region. */
    const takenFrom = new Map<LedgerId, Region>();
    /** When a region was last meant to become the owner of something, and when one was last given up. */
    const handedOverAtMs = new Map<Region, number>();
    const givenUpAtMs = new Map<Region, number>();
    /** At the election itself: its winner may freeze before it reports, and report an hour later. */
    const hasReason = (by: Region, from: Region, taker: SimulatedProcess | undefined): boolean => {
      const heard = heardOf(by, from);
      const silentAtMs = hasAskedItself(heard, taker) ? heard.silentAtMs : Number.NEGATIVE_INFINITY;
      const never = Number.NEGATIVE_INFINITY;
      const handedOver = handedOverAtMs.get(by) ?? never;
      const givenUp = givenUpAtMs.get(from) ?? never;
      const lastAtMs = Math.max(heard.cannotOwnAtMs, silentAtMs, handedOver, givenUp);
      return world.scheduler.nowMs - lastAtMs <= EVIDENCE_MS || !isAccepting(world, from);
    };
    return {
      metadataChanged(change) {
        const item = change.after?.item;
        const state = item?.kind === "region" ? item : change.before?.item;
        if (state?.kind === "region") givenUpAtMs.set(state.region, world.scheduler.nowMs);
        if (item?.kind !== "segment") return;
        const before = chainBefore(world, change);
        if (before?.item.kind !== "segment") return;
        const { ownerRegion } = before.item;
        if (ownerRegion !== item.ownerRegion && !hasReason(item.ownerRegion, ownerRegion, change.process)) {
          takenFrom.set(item.ledgerId, ownerRegion);
        }
      },
      regionCalled(call, answer) {
        const heard = heardOf(call.process.region, call.to);
        const { nowMs } = world.scheduler;
        if (call.asked?.kind === "hand-over") handedOverAtMs.set(call.asked.to, nowMs);
        if (call.asked?.kind === "take-over") handedOverAtMs.set(call.to, nowMs);
        if (answer === undefined) {
          if (call.what === "canOwn") heard.silent.set(call, nowMs);
          if (isSilence(heard, nowMs)) heard.silentAtMs = nowMs;
          return;
        }
        if (nowMs - (heard.silent.get(call) ?? nowMs) < limits.ownerAskTimeoutMs) heard.silent.delete(call);
        if (saysCannotOwn(answer)) heard.cannotOwnAtMs = nowMs;
      },
      emitted(event, process) {
        if (event.event !== "segment-opened" || !knowsRegions(process)) return;
        const owner = takenFrom.get(event.ledgerId);
        if (owner === undefined || owner === process.region) return;
        report(`${process.name} takes the log over from ${owner}, which answers`, event.log);
      },
    };
  },
};

/** Functions and auditors; old-style writers do not. */
const knowsRegions = ({ name }: SimulatedProcess): boolean =>
  name.startsWith("append-") || name.includes("auditor-");

function isAccepting({ table }: World, region: Region): boolean {
  const item = table.get(regionKey(region))?.item;
  return item?.kind !== "region" || item.state === "accepting";
}

function isSilence({ silent }: Heard, nowMs: number): boolean {
  for (const [call, atMs] of silent) if (nowMs - atMs > EVIDENCE_MS) silent.delete(call);
  return silent.size >= limits.ownerFailuresMin;
}

function hasAskedItself({ silent }: Heard, taker: SimulatedProcess | undefined): boolean {
  return [...silent.keys()].some(({ process }) => process === taker);
}

function saysCannotOwn(answer: unknown): boolean {
  if (answer === false) return true;
  const { kind, error } = answer as { kind?: string; error?: { details: Record<string, unknown> } };
  return kind === "refused" && error?.details.cannot_own === true;
}
