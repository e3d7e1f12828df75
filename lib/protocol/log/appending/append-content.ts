/**
 * An append's sender in the form that goes into entries: with a checksum of the records, which distinguishes
 * a repetition from another batch under a seq that came before.
 */
import type { Clock } from "../../clock.ts";
import { entryId, ledgerId, NO_ENTRY, seqNum, tenure } from "../../ids.ts";
import type { Digest, EntryHeader } from "../../ports.ts";
import type { AppendRequest } from "../operations.ts";
import type { RecordInput } from "../records/record.ts";
import { type BatchSender, encodeRecordSet } from "../records/record-set.ts";

/** Undefined: a plain append. */
export function batchSender(
  { clock, digest }: { readonly clock: Clock; readonly digest: Digest },
  { sender, records }: Pick<AppendRequest, "sender" | "records">,
): BatchSender | undefined {
  if (sender === undefined) return undefined;
  return {
    ...sender,
    content: contentOf(digest, records),
    arrivedAtMs: Math.max(0, Math.floor(clock.nowMs())),
  };
}

/** Of headers and bodies. Timestamps are left out: a client may give each attempt its own. */
function contentOf(digest: Digest, records: readonly RecordInput[]): number {
  const plain = records.map(({ headers, body }) => ({ headers, body, timestampMs: 0 }));
  const checksum = digest.compute({ type: "crc32" }, NO_HEADER, encodeRecordSet(seqNum(0), plain));
  return new DataView(checksum.buffer, checksum.byteOffset, checksum.byteLength).getUint32(0);
}

/** The checksum is about records alone, wherever they come to stand. */
const NO_HEADER: EntryHeader = {
  ledgerId: ledgerId(0),
  entryId: entryId(0),
  lastAddConfirmed: NO_ENTRY,
  length: 0,
  tenure: tenure(""),
};
