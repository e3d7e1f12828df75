/** Since when a region has owned a log. A busy log rolls more often than it changes its owner. */
import type { LogIncarnation, SeqNum } from "../../ids.ts";
import type { MetadataStore } from "../../ports.ts";
import { lastAtOrBelow, type SegmentAt } from "../chain/segments.ts";
import { auditLimits } from "./audit-limits.ts";

/**
 * Whether the owner of the last segment has owned the log since `sinceMs`, wall time in ms, or through so
 * many segments that it may count as that. What was trimmed tells nothing any more, and an empty segment that
 * was replaced (24) does not tell whose it was.
 */
export async function isOwnedSince(
  metadata: MetadataStore,
  log: LogIncarnation,
  last: SegmentAt,
  sinceMs: number,
): Promise<boolean> {
  const { ownerRegion } = last.item;
  let earliest = last;
  for (let seen = 1; seen < auditLimits.ownedSegmentsMax; seen++) {
    if (earliest.item.createdAtMs <= sinceMs) return true;
    if (earliest.first === 0) return false;
    const before = await lastAtOrBelow(metadata, log, (earliest.first - 1) as SeqNum, "consistent");
    if (before?.kind !== "segment" || before.item.ownerRegion !== ownerRegion) return false;
    if (before.item.number !== earliest.item.number - 1) return false; // one in between was replaced, empty
    earliest = before;
  }
  return true;
}
