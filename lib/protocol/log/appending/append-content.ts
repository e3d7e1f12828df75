/**
 * Who an append says it is from, in the form that goes into entries: with a checksum of its records, so that
 * a batch under a seq or key that came before is told from a repetition.
 */
import type { Clock } from "../../clock.ts";
import { entryId, ledgerId, NO_ENTRY, seqNum, tenure } from "../../ids.ts";
import type { Digest, EntryHeader } from "../../ports.ts";
import type { AppendRequest } from "../operations.ts";
import type { BatchProducer } from "../records/entry-batches.ts";
import type { RecordInput } from "../records/record.ts";
import { encodeRecordSet } from "../records/record-set.ts";

type Sender = Pick<AppendRequest, "producer" | "idempotencyKey" | "records">;

/** Undefined: a plain append. */
export function batchProducer(
  ports: { readonly clock: Clock; readonly digest: Digest },
  { producer, idempotencyKey, records }: Sender,
): BatchProducer | undefined {
  const arrived = () => ({
    content: contentOf(ports.digest, records),
    arrivedAtMs: Math.max(0, Math.floor(ports.clock.nowMs())),
  });
  if (producer !== undefined) return { kind: "producer", ...producer, ...arrived() };
  if (idempotencyKey === undefined) return undefined;
  return { kind: "key", id: idempotencyKey, epoch: 0, seq: 0, ...arrived() };
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
