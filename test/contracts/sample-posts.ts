/** Posted appends and answers of every kind, as posters and holders write them. */
import { FencelineError } from "../../lib/protocol/errors.ts";
import {
  entryId,
  newLeaseBirth,
  newTicketId,
  region,
  segmentNumber,
  seqNum,
  type TicketId,
} from "../../lib/protocol/ids.ts";
import type { InboxAnswer, InboxRequest, PostedAppend, Ticket } from "../../lib/protocol/log/inbox-store.ts";
import type { Scope } from "./scope.ts";

/** A ticket of a birth and a tenure of its own, or of those of `like`. */
export function sampleTicket(scope: Scope, revision = 1, like?: Ticket): Ticket {
  return {
    birth: like?.birth ?? newLeaseBirth(scope.random),
    tenure: like?.tenure ?? scope.tenure(),
    revision,
    id: newTicketId(scope.random),
  };
}

export function sampleRequest(ticket: Ticket, bodyBytes = 10): InboxRequest {
  return { ticket, append: { records: [{ body: bytesOf(bodyBytes), headers: [] }] } };
}

/** Bytes in which no piece is like another. */
export function bytesOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + (index >>> 8) * 17 + (index >>> 16)) & 0xff);
}

const everyByte = bytesOf(256).map((_, index) => index);
const noText = Uint8Array.of(0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0);

export const samplePosts: readonly PostedAppend[] = [
  { records: [{ body: Uint8Array.of(), headers: [] }] },
  {
    records: [
      { body: everyByte, headers: [[noText, everyByte]], timestampMs: 1_700_000_000_000.5 },
      { body: noText, headers: [[Uint8Array.of(), Uint8Array.of()]], timestampMs: 0 },
    ],
    matchSeqNum: seqNum(0),
  },
  {
    records: [{ body: new TextEncoder().encode('\u0000\n"\\\u001f\u007f\u2028\ufffd😀'), headers: [] }],
    matchSeqNum: seqNum(2 ** 53 - 1),
    sender: { id: '~ !"#\\', epoch: 2 ** 53 - 1, seq: 2 ** 40 },
  },
  { records: [{ body: Uint8Array.of(255, 254, 253), headers: [] }], sender: { id: "p", epoch: 0, seq: 0 } },
  // To settle the tail.
  { records: [] },
];

const position = (number: number, slot: number) => ({
  seqNum: seqNum(number),
  dlsn: { segment: segmentNumber(3), entry: entryId(2), slot },
  timestampMs: 1_700_000_000_000,
});

const refusal = new FencelineError("seq_num_mismatch", {
  message: 'expected 4,\n found "7" \u0000\u2028',
  details: { expected: 4, at: ["a", null, { b: true }], text: "\ud800\u0001" },
});
const altered = new FencelineError("unavailable", {
  message: "",
  retryable: false,
  sideEffects: "none",
});

export const sampleAnswers: readonly InboxAnswer[] = [
  {
    kind: "recorded",
    ack: {
      start: position(10, 0),
      last: position(11, 1),
      tail: seqNum(2 ** 53 - 1),
      duplicate: false,
      epoch: segmentNumber(3),
      ownerRegion: region("us-east-1"),
    },
  },
  {
    kind: "recorded",
    ack: {
      start: position(0, 0),
      last: position(0, 0),
      tail: seqNum(1),
      duplicate: true,
      epoch: segmentNumber(1),
      ownerRegion: region("us-east-1"),
    },
  },
  { kind: "refused", error: refusal },
  { kind: "refused", error: altered, ruledOut: true },
  { kind: "not-served" },
];

/** Errors as what they say, since two of them are never the same. */
export function shownAnswer(answer: InboxAnswer | undefined): unknown {
  if (answer?.kind !== "refused") return answer;
  const { code, message, retryable, sideEffects, details } = answer.error;
  expectError(answer.error);
  return { ...answer, error: { code, message, retryable, sideEffects, details } };
}

function expectError(error: unknown): void {
  if (!(error instanceof FencelineError)) throw new Error("a refusal is no error");
}

export const withId = (ticket: Ticket, id: string): Ticket => ({ ...ticket, id: id as TicketId });

/** A ticket that another process makes again from its revision. */
export function inboxTicket(revision: number): Ticket {
  return { birth: "b" as never, tenure: "t" as never, revision, id: `i${revision}` as TicketId };
}
