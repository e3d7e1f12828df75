/**
 * Finds a place among a log's segments by bisection of the seq_nums that their keys stand for: as many
 * queries as the last one has binary digits, at most 53, whatever the number of segments.
 */
import type { LogIncarnation, SeqNum } from "../../ids.ts";
import type { Consistency, MetadataStore } from "../../ports.ts";
import { type ChainItem, lastAtOrBelow, lastItem } from "./segments.ts";

interface SegmentBoundary {
  /** The last item that `isBefore` holds for. */
  readonly before?: ChainItem;
  /** Where the first item starts that it does not hold for. */
  readonly after?: SeqNum;
}

/**
 * `isBefore` holds for a beginning of the chain, and for nothing behind it. It is told whether it is asked
 * about the last item. Throws what it and the queries throw.
 */
export async function findSegment(
  metadata: MetadataStore,
  log: LogIncarnation,
  consistency: Consistency,
  isBefore: (item: ChainItem, isLast: boolean) => boolean | Promise<boolean>,
): Promise<SegmentBoundary> {
  const last = await lastItem(metadata, log, consistency);
  if (last === undefined) return {};
  // Most of what is looked for is near the tail.
  if (await isBefore(last, true)) return { before: last };
  let before: ChainItem | undefined;
  let after: number = last.first;
  // Items at keys up to `below` are before the boundary, those from `after` on behind it.
  for (let below = -1; below + 1 < after; ) {
    const middle = Math.floor((below + after) / 2);
    const item = await lastAtOrBelow(metadata, log, middle as SeqNum, consistency);
    if (item !== undefined && item.first > below) {
      if (!(await isBefore(item, false))) {
        after = item.first;
        continue;
      }
      before = item;
    }
    below = middle;
  }
  return { ...(before === undefined ? {} : { before }), after: after as SeqNum };
}
