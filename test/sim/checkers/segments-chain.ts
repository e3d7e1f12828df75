/**
 * A log's segments chain without gap or overlap (TLA+ LedgerChaining: OnlyOneLedgerOpenAtATime,
 * EntryOrderMaintained; rules 22 to 28): whenever an item is put, the segment before it is closed and ends at
 * the new key; only an item of an empty segment is given to another ledger; a completion says the truth. And no
 * item goes but one behind which another stands up to the trim point, as long as the log is there (31).
 */
import { type LogIncarnation, NO_ENTRY } from "../../../lib/protocol/ids.ts";
import {
  type ItemKey,
  ledgerKey,
  logKey,
  type SegmentItem,
  segmentsPartition,
  seqNumOfKey,
} from "../../../lib/protocol/items.ts";
import type { LedgerMetadata } from "../../../lib/protocol/ledger-metadata.ts";
import { decodeRecordSetHead, nextSeqNumOf } from "../../../lib/protocol/log/records/record-set.ts";
import type { Versioned } from "../../../lib/protocol/ports.ts";
import { contentsOfEntry } from "../entry-contents.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const segmentsChain: Checker = {
  name: "segments-chain",
  watch(world, report) {
    return {
      metadataChanged({ key, before, after }) {
        const log = key.partition.replace("segments#", "");
        if (before?.item.kind === "segment" && after === undefined) {
          const needed = stillNeeded(world, log as LogIncarnation, before.key);
          if (needed !== undefined) report(needed, log);
        }
        if (after?.item.kind !== "segment") return;
        const wrong = wrongSegment(world, log as LogIncarnation, before, after as Versioned<SegmentItem>);
        if (wrong !== undefined) report(wrong, log);
      },
    };
  },
};

function stillNeeded(world: World, log: LogIncarnation, removed: ItemKey): string | undefined {
  const item = world.table.get(logKey(log))?.item;
  if (item?.kind !== "log" || item.state !== "active") return undefined;
  const first = seqNumOfKey(removed);
  const { trimPoint } = item;
  const chain = world.table.query({ partition: segmentsPartition(log), order: "ascending", limit: 10_000 });
  const isBehind = chain.some(({ key }) => seqNumOfKey(key) > first && seqNumOfKey(key) <= trimPoint);
  return isBehind ? undefined : `item ${first} is removed, and the trim point is ${trimPoint}`;
}

function wrongSegment(
  world: World,
  log: LogIncarnation,
  before: Versioned | undefined,
  after: Versioned<SegmentItem>,
): string | undefined {
  const first = seqNumOfKey(after.key);
  const { item } = after;
  // A late put may win where everything was taken away, by a trim or a deletion; its check finds that out (25).
  const ofLog = world.table.get(logKey(log))?.item;
  if (ofLog?.kind === "log" && (ofLog.trimPoint > first || ofLog.state === "deleting")) return undefined;
  const chain = world.table.query({ partition: segmentsPartition(log), order: "ascending", limit: 10_000 });
  const index = chain.findIndex((one) => one.key.sort === after.key.sort);
  const previous = chain[index - 1];
  if (before?.item.kind === "segment" && before.item.ledgerId === item.ledgerId) {
    const end = endOf(world, first, item);
    const said = item.completion?.end;
    return said === undefined || said === end
      ? undefined
      : `item ${first} says it ends at ${said}; it is ${end}`;
  }
  if (before?.item.kind === "segment") {
    const end = endOf(world, first, before.item);
    if (end !== first) return `item ${first} is given to another ledger; its own ends at ${end}`;
  }
  // What was before an empty segment may be trimmed by now, all of it or some; the item itself is never gone (31).
  if (before !== undefined && ofLog?.kind === "log" && ofLog.trimPoint === first) return undefined;
  if (previous === undefined) return first === 0 ? undefined : `the first item is put at ${first}`;
  if (previous.item.kind !== "segment") return `an item is put at ${first}, behind the end of the log`;
  const end = endOf(world, seqNumOfKey(previous.key), previous.item);
  if (end !== first) return `an item is put at ${first}; the segment before it ends at ${end}`;
  if (previous.item.number >= item.number) return `segment ${item.number} follows ${previous.item.number}`;
  return undefined;
}

/** Where the segment really ends: its ledger is closed and its last entry says so. Undefined: not closed. */
function endOf(world: World, first: number, item: SegmentItem): number | undefined {
  const ledger = world.table.get(ledgerKey(item.ledgerId))?.item as LedgerMetadata | undefined;
  if (ledger === undefined) return first;
  if (ledger.state === "OPEN" || ledger.state === "IN_RECOVERY") return undefined;
  if (ledger.lastEntry === NO_ENTRY) return first;
  const payload = contentsOfEntry(world, ledger, ledger.lastEntry)[0];
  return payload === undefined ? undefined : nextSeqNumOf(decodeRecordSetHead(payload, "the last entry"));
}
