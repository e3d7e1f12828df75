/** What functions of two regions say to each other about an append arrives as it was said. */
import { expect, test } from "vitest";
import { decodeAppendCall, encodeAppendCall } from "../../lib/adapters/aws/append-call.ts";
import { decodeAck, encodeAck } from "../../lib/formats/append-format.ts";
import { entryId, logName, region, segmentNumber, seqNum } from "../../lib/protocol/ids.ts";
import type { AppendRequest } from "../../lib/protocol/log/operations.ts";

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const plain: AppendRequest = {
  log: logName("orders/eu"),
  records: [
    { body: Uint8Array.of(0, 255), headers: [[Uint8Array.of(1), Uint8Array.of()]], timestampMs: 7 },
    { body: Uint8Array.of(), headers: [] },
  ],
};

test.each<[string, Partial<AppendRequest>]>([
  ["a plain append", {}],
  ["a condition, a route and a deadline", { matchSeqNum: seqNum(0), route: "refuse", timeoutMs: 900 }],
  ["a sender", { sender: { id: "p1", epoch: 0, seq: 2 ** 40 } }],
  ["a condition with a sender", { matchSeqNum: seqNum(4), sender: { id: "key k-1", epoch: 0, seq: 0 } }],
])("%s", (_, more) => {
  const call = { operation: "append", request: { ...plain, ...more } } as const;
  expect(decodeAppendCall(throughJson(encodeAppendCall(call)))).toEqual(call);
});

test.each([true, false])("an acknowledgement, duplicate: %s", (duplicate) => {
  const dlsn = (slot: number) => ({ segment: segmentNumber(3), entry: entryId(2), slot });
  const ack = {
    start: { seqNum: seqNum(10), dlsn: dlsn(0), timestampMs: 1 },
    last: { seqNum: seqNum(11), dlsn: dlsn(1), timestampMs: 2 },
    tail: seqNum(12),
    ...(duplicate ? {} : { durableIn: [region("us-east-1")] }),
    duplicate,
    epoch: segmentNumber(3),
    ownerRegion: region("us-east-1"),
  };
  expect(decodeAck(throughJson(encodeAck(ack)))).toEqual(ack);
});
