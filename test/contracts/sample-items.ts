/** Items of every kind, as the protocol writes them. */
import {
  bookieId,
  entryId,
  ledgerId,
  logIncarnation,
  logName,
  region,
  segmentNumber,
  seqNum,
} from "../../lib/protocol/ids.ts";
import type { Item, LogItem } from "../../lib/protocol/items.ts";
import type { LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import type { BookieAddress, Fragment, Replication } from "../../lib/protocol/replication.ts";

export const sampleReplication: Replication = {
  ensembleSize: 4,
  writeQuorum: 4,
  ackQuorum: 3,
  minRegions: 2,
};

/** Four bookies in two regions; `generation` distinguishes one ensemble from the next. */
function sampleEnsemble(generation: number): BookieAddress[] {
  return [0, 1, 2, 3].map((index) => ({
    id: bookieId(`us-east-${1 + (index % 2)}.b${index}~s${generation}`),
    place: { region: region(`us-east-${1 + (index % 2)}`), rack: `use1-az${index}` },
  }));
}

export function sampleLedger(fragments: number): LedgerMetadata {
  return {
    kind: "ledger",
    ledgerId: ledgerId(2 ** 53 - 1),
    state: "OPEN",
    replication: sampleReplication,
    digest: { type: "hmac-sha256", keyHex: "00112233445566778899aabbccddeeff".repeat(2) },
    fragments: Array.from(
      { length: fragments },
      (_, index): Fragment => ({ firstEntry: entryId(index * 10), ensemble: sampleEnsemble(index) }),
    ),
    retired: Array.from({ length: fragments - 1 }, (_, index) => bookieId(`us-east-1.b0~s${index}`)),
    origin: { log: logIncarnation("l0g"), firstSeqNum: seqNum(42), ownerRegion: region("us-east-1") },
    createdAtMs: 1_700_000_000_000,
  };
}

/** A log item that differs from others by its trim point alone. */
export function sampleLog(trimPoint: number, name = "orders/2026"): LogItem {
  return {
    kind: "log",
    name: logName(name),
    incarnation: logIncarnation("l0g"),
    config: { replication: sampleReplication, digest: "crc32", segmentBytesMax: 1 << 20 },
    state: "active",
    trimPoint: seqNum(trimPoint),
    createdAtMs: 1_700_000_000_000,
  };
}

export function sampleItems(): Item[] {
  const open = sampleLedger(2);
  const closed: LedgerMetadata = { ...sampleLedger(1), state: "CLOSED", lastEntry: entryId(-1), length: 0 };
  const { origin: _, ...orphan } = sampleLedger(1);
  const segment: Item = {
    kind: "segment",
    number: segmentNumber(1),
    ledgerId: ledgerId(7),
    ownerRegion: region("us-west-2"),
    createdAtMs: 1,
  };
  return [
    open,
    { ...open, state: "IN_RECOVERY" },
    closed,
    { ...closed, state: "DELETED", lastEntry: entryId(9), length: 90, deletedAtMs: 5 },
    { ...orphan, digest: { type: "crc32" } },
    { kind: "log-name", name: logName("naïve/日誌/🪵"), incarnation: logIncarnation("l0g") },
    sampleLog(0),
    { ...sampleLog(2 ** 53 - 1), state: "deleting" },
    { ...sampleLog(0), preferredRegion: region("us-west-2") },
    segment,
    {
      ...segment,
      completion: { end: seqNum(5), lastEntry: 3, lastTimestampMs: 1_700_000_000_001, bytes: 12 },
    },
    { kind: "end", number: segmentNumber(3) },
    { kind: "directory", name: logName("a") },
    { kind: "ledger-listing", ledgerId: ledgerId(7), region: region("us-east-2"), createdAtMs: 1 },
    {
      kind: "ledger-listing",
      ledgerId: ledgerId(2 ** 53 - 1),
      region: region("us-east-2"),
      createdAtMs: 1,
      sweptAtMs: 2,
    },
    { kind: "deployment", metadataMode: "strong" },
    { kind: "deployment", metadataMode: "home", homeRegion: region("eu-west-1") },
    { kind: "region", region: region("us-east-2"), state: "draining" },
    {
      kind: "bookie",
      address: { id: bookieId("r.b~s"), place: { region: region("r"), rack: "a" } },
      state: "read-only",
    },
  ];
}
