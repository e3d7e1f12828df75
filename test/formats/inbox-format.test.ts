/** What an inbox keeps, as bytes and under keys: there and back, golden, and all damage refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  behindRevision,
  decodeAnswer,
  decodePosted,
  encodeAnswer,
  encodePosted,
  requestSort,
  ticketAddress,
  ticketOf,
} from "../../lib/formats/inbox-format.ts";
import { hasCode } from "../../lib/protocol/errors.ts";
import { logIncarnation } from "../../lib/protocol/ids.ts";
import type { Ticket } from "../../lib/protocol/log/inbox-store.ts";
import { inboxTicket, sampleAnswers, samplePosts, shownAnswer } from "../contracts/sample-posts.ts";

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const bytesOf = (text: string) => new TextEncoder().encode(text);

function isRefused(decode: () => unknown): boolean {
  try {
    decode();
    return false;
  } catch (error) {
    if (hasCode(error, "data_corrupt")) return true;
    throw error;
  }
}

describe("posted appends and answers", () => {
  it("have these bytes, for ever", () => {
    expect(textOf(encodePosted(samplePosts[3] ?? { records: [] }))).toBe(
      '{"format":1,"records":[{"body":"//79","headers":[]}],"sender":{"id":"p","epoch":0,"seq":0}}',
    );
    expect(sampleAnswers.slice(1).map((answer) => textOf(encodeAnswer(answer)))).toEqual([
      '{"format":1,"kind":"recorded","ack":{"start":{"seqNum":0,"segment":3,"entry":2,"slot":0,' +
        '"timestampMs":1700000000000},"last":{"seqNum":0,"segment":3,"entry":2,"slot":0,' +
        '"timestampMs":1700000000000},"tail":1,"duplicate":true,"epoch":1,"ownerRegion":"us-east-1"}}',
      expect.stringContaining('"kind":"refused","error":{"code":"seq_num_mismatch"'),
      '{"format":1,"kind":"refused","error":{"code":"unavailable","message":"","retryable":false,' +
        '"sideEffects":"none","details":{}},"ruledOut":true}',
      '{"format":1,"kind":"not-served"}',
    ]);
  });

  it("come back as they were", () => {
    for (const append of samplePosts) expect(decodePosted(encodePosted(append))).toEqual(append);
    for (const answer of sampleAnswers) {
      expect(shownAnswer(decodeAnswer(encodeAnswer(answer)))).toEqual(shownAnswer(answer));
    }
  });

  it("are refused where they are cut off, have a field more, less or of another type, or another format", () => {
    const both = [
      ...samplePosts.map((append) => [encodePosted(append), decodePosted] as const),
      ...sampleAnswers.map((answer) => [encodeAnswer(answer), decodeAnswer] as const),
    ];
    for (const [bytes, decode] of both) {
      for (const end of [0, 1, bytes.length - 1]) {
        expect(isRefused(() => decode(bytes.subarray(0, end)))).toBe(true);
      }
      const object = JSON.parse(textOf(bytes));
      const changed = (change: object) => decode(bytesOf(JSON.stringify({ ...object, ...change })));
      expect(isRefused(() => changed({ zzz: 1 }))).toBe(true);
      expect(isRefused(() => changed({ format: 2 }))).toBe(true);
      for (const name of Object.keys(object)) expect(isRefused(() => changed({ [name]: -2.5 }))).toBe(true);
    }
    expect(isRefused(() => decodePosted(Uint8Array.of(0xff)))).toBe(true);
  });

  it.each(["ab/", "ab/*", "ab /+", "=ab/", "ab/+====", "a"])("%s is no base 64", (body) => {
    const json = JSON.stringify({ format: 1, records: [{ body, headers: [] }] });
    expect(isRefused(() => decodePosted(bytesOf(json)))).toBe(true);
  });

  it("an answer that says where a batch is durable is none", () => {
    const [recorded] = sampleAnswers;
    const object = JSON.parse(textOf(encodeAnswer(recorded ?? { kind: "not-served" })));
    object.ack.durableIn = ["us-east-1"];
    expect(isRefused(() => decodeAnswer(bytesOf(JSON.stringify(object))))).toBe(true);
  });
});

describe("keys", () => {
  const anyRevision = fc.maxSafeNat();

  it("are these, for ever", () => {
    expect(requestSort(inboxTicket(12))).toBe("0000000000000012#i12");
    expect(ticketAddress(logIncarnation("l#1"), inboxTicket(3))).toBe("l%00231#b#t#0000000000000003#i3");
  });

  it("sort by revision, and name their ticket", () => {
    fc.assert(
      fc.property(anyRevision, anyRevision, fc.string({ unit: "binary" }), (revision, other, id) => {
        const ticket = { ...inboxTicket(revision), id } as Ticket;
        const sort = requestSort(ticket);
        expect(ticketOf(ticket, sort)).toEqual(ticket);
        expect(sort > behindRevision(other)).toBe(revision > other);
        expect(/^[\x21-\x7e]+$/.test(sort)).toBe(true);
      }),
    );
  });

  it("of anybody else name none", () => {
    for (const sort of ["", "1#a", "0000000000000001", "0000000000000001#é", "9999999999999999#a"]) {
      expect(ticketOf(inboxTicket(1), sort)).toBeUndefined();
    }
  });
});
