/**
 * A region's function takes a log over from another region only if that one left it without answers, several
 * times over a stretch of time, or said that it cannot own logs. A refusal and "too much to do" are answers; one
 * that comes when nobody waits for it any more is none. (Old-style writers know no other region and are left out.)
 */
import type { LedgerId, Region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { chainBefore } from "../chain-before.ts";
import type { RegionCall } from "../observations.ts";
import type { Checker } from "./checker.ts";

/** Evidence may be as old as an append can take that began on it, and waited for a lease. */
const EVIDENCE_MS = 2 * limits.appendDeadlineMs;

const patienceMs = { canOwn: limits.ownerAskTimeoutMs, append: limits.appendDeadlineMs };

/** What one region heard of another. */
interface Heard {
  /** Times of calls of which no answer has come yet. */
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
    const takenFrom = new Map<LedgerId, Region>();
    return {
      metadataChanged(change) {
        const item = change.after?.item;
        if (item?.kind !== "segment") return;
        const before = chainBefore(world, change);
        if (before?.item.kind === "segment") takenFrom.set(item.ledgerId, before.item.ownerRegion);
      },
      regionCalled(call, answer) {
        const heard = heardOf(call.process.region, call.to);
        const { nowMs } = world.scheduler;
        if (answer === undefined) {
          heard.silent.set(call, nowMs);
          if (isSilence(heard, nowMs)) heard.silentAtMs = nowMs;
          return;
        }
        if (nowMs - (heard.silent.get(call) ?? nowMs) < patienceMs[call.what]) heard.silent.delete(call);
        if (saysCannotOwn(answer)) heard.cannotOwnAtMs = nowMs;
      },
      emitted(event, process) {
        if (event.event !== "segment-opened" || !process.name.startsWith("append-")) return;
        const owner = takenFrom.get(event.ledgerId);
        if (owner === undefined || owner === process.region) return;
        const heard = heardOf(process.region, owner);
        const { nowMs } = world.scheduler;
        if (nowMs - Math.max(heard.cannotOwnAtMs, heard.silentAtMs) <= EVIDENCE_MS) return;
        report(`${process.name} takes the log over from ${owner}, which answers`, event.log);
      },
    };
  },
};

function isSilence({ silent }: Heard, nowMs: number): boolean {
  for (const [call, atMs] of silent) if (nowMs - atMs > EVIDENCE_MS) silent.delete(call);
  return silent.size >= limits.ownerFailuresMin;
}

function saysCannotOwn(answer: unknown): boolean {
  if (answer === false) return true;
  const { kind, error } = answer as { kind?: string; error?: { details: Record<string, unknown> } };
  return kind === "refused" && error?.details.cannot_own === true;
}
