/**
 * Notes in a segment's item where it ends (rule 34): for people and for listings; nothing depends on it. A
 * conditional update on the ledger id, never a put of the whole item, because an empty segment's item may
 * have been given to another ledger meanwhile (T15).
 */
import type { LedgerId, LogIncarnation, SeqNum } from "../../ids.ts";
import { type SegmentCompletion, segmentKey } from "../../items.ts";
import { type UpdatePorts, updateItem } from "../../update-item.ts";

export async function completeSegment(
  ports: UpdatePorts,
  log: LogIncarnation,
  segment: { readonly first: SeqNum; readonly ledgerId: LedgerId },
  completion: SegmentCompletion,
): Promise<void> {
  try {
    await updateItem(ports, segmentKey(log, segment.first), (current) => {
      const item = current?.item;
      if (item?.kind !== "segment" || item.ledgerId !== segment.ledgerId) return { kind: "keep" };
      if (item.completion !== undefined) return { kind: "keep" };
      return { kind: "write", item: { ...item, completion } };
    });
  } catch {
    // Left out: whoever needs the end computes it (rule 22).
  }
}
