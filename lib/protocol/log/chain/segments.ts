/**
 * Where a log's segments are: queries over its segment and END items, keyed by the seq_num they start at.
 * *Last* is the item with the greatest key, END included (rule 29). A stale answer may be any earlier state
 * of each item; a consistent one sees every write that was answered before it began.
 */
import { assert, present } from "../../assert.ts";
import { FencelineError, unavailable } from "../../errors.ts";
import type { LogIncarnation, SeqNum } from "../../ids.ts";
import { type EndItem, type SegmentItem, segmentSort, segmentsPartition, seqNumOfKey } from "../../items.ts";
import type { ItemQuery, MetadataConsistency, MetadataStore, Versioned } from "../../ports.ts";
import type { LogRef } from "../log-ref.ts";
import type { Ownership } from "../operations.ts";

/** An item of the log's chain and the seq_num that its key stands for. */
export type ChainItem = SegmentAt | EndAt;

export interface SegmentAt {
  readonly kind: "segment";
  readonly first: SeqNum;
  readonly item: SegmentItem;
}
export interface EndAt {
  readonly kind: "end";
  readonly first: SeqNum;
  readonly item: EndItem;
}

/** Items in one page when the whole chain is listed. */
const PAGE_ITEMS = 500;

/** The item with the greatest key. */
export function lastItem(
  metadata: MetadataStore,
  log: LogIncarnation,
  consistency: MetadataConsistency,
): Promise<ChainItem | undefined> {
  return nearest(metadata, log, { order: "descending" }, consistency);
}

/** The item with the greatest key <= `position`: the segment that holds it, if there is one. */
export function lastAtOrBelow(
  metadata: MetadataStore,
  log: LogIncarnation,
  position: SeqNum,
  consistency: MetadataConsistency,
): Promise<ChainItem | undefined> {
  return nearest(metadata, log, { to: segmentSort(position), order: "descending" }, consistency);
}

/** The item with the smallest key >= `position`. */
export function firstAtOrAbove(
  metadata: MetadataStore,
  log: LogIncarnation,
  position: SeqNum,
  consistency: MetadataConsistency,
): Promise<ChainItem | undefined> {
  return nearest(metadata, log, { from: segmentSort(position), order: "ascending" }, consistency);
}

/**
 * Every item of the chain, or those with keys <= `upTo`, in order. Items that come or go meanwhile may be
 * missed or shown.
 */
export async function allItems(
  metadata: MetadataStore,
  log: LogIncarnation,
  consistency: MetadataConsistency,
  upTo: SeqNum = Number.MAX_SAFE_INTEGER as SeqNum,
): Promise<readonly ChainItem[]> {
  const items: ChainItem[] = [];
  const range = { partition: segmentsPartition(log), to: segmentSort(upTo), limit: PAGE_ITEMS };
  for (let from: string | undefined = segmentSort(0 as SeqNum); from !== undefined; ) {
    const query = { ...range, from, order: "ascending" } as const;
    const page = await ask(metadata, query, consistency);
    items.push(...page.map(chainItem));
    from =
      page.length < PAGE_ITEMS ? undefined : segmentSort((present(items.at(-1), "page").first + 1) as SeqNum);
  }
  return items;
}

/** Reads a stored item as one of the chain. */
function chainItem(stored: Versioned): ChainItem {
  const { item, key } = stored;
  const first = seqNumOfKey(key);
  if (item.kind === "segment") return { kind: "segment", first, item };
  assert(item.kind === "end", `${key.partition}/${key.sort} holds a ${item.kind} item`);
  return { kind: "end", first, item };
}

async function nearest(
  metadata: MetadataStore,
  log: LogIncarnation,
  bound: Pick<ItemQuery, "from" | "to" | "order">,
  consistency: MetadataConsistency,
): Promise<ChainItem | undefined> {
  const query: ItemQuery = { partition: segmentsPartition(log), ...bound, limit: 1 };
  const stored = (await ask(metadata, query, consistency))[0];
  return stored === undefined ? undefined : chainItem(stored);
}

async function ask(
  metadata: MetadataStore,
  query: ItemQuery,
  consistency: MetadataConsistency,
): Promise<readonly Versioned[]> {
  try {
    return await metadata.query(query, consistency);
  } catch (error) {
    throw unavailable(`metadata ${query.partition} could not be queried`, "none", error);
  }
}

interface SegmentBoundary {
  /** The last item that `isBefore` holds for. */
  readonly before?: ChainItem;
  /** Where the first item starts that it does not hold for. */
  readonly after?: SeqNum;
}

/**
 * Finds a place among a log's segments by bisection of the seq_nums that their keys stand for: as many
 * queries as the last one has binary digits, at most 53, whatever the number of segments. `isBefore` holds
 * for a beginning of the chain, and for nothing behind it; it gets whether it is asked about the last item.
 * Throws what it and the queries throw.
 */
export async function findSegment(
  metadata: MetadataStore,
  log: LogIncarnation,
  consistency: MetadataConsistency,
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

/**
 * Which region owns a log: that of its last segment, read consistently. Throws `log_sealed`: a log with an
 * end has no owner any more.
 */
export async function ownershipOf(
  { metadata }: { readonly metadata: MetadataStore },
  log: LogRef,
): Promise<Ownership> {
  const last = await lastItem(metadata, log.incarnation, "consistent");
  if (last === undefined) return {};
  if (last.kind === "segment") return { owner: last.item.ownerRegion, epoch: last.item.number };
  throw new FencelineError("log_sealed", {
    message: `log ${log.name} was sealed at ${last.first}; nobody owns it any more`,
    details: { tail: last.first },
  });
}
