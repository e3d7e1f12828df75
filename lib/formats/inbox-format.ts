/**
 * What an inbox holds, a posted batch or an answer, as bytes of UTF-8 JSON with a format number, and the keys
 * under which it is kept. A ticket is in the keys alone, whole: nothing is ever read for another ticket.
 *
 *     request    partition log#birth#tenure      sort revision#id
 *     answer     log#birth#tenure#revision#id, and the pieces of a large batch by the same address
 *
 * A revision has 16 digits, so that requests sort by revision, then by id, in code units as in bytes. Ids are
 * tokens; what else a text may hold is escaped, `#` with it. Never change a key: stored ones are found by it.
 */
import { assert } from "../protocol/assert.ts";
import { type LogIncarnation, ticketId } from "../protocol/ids.ts";
import type { InboxAnswer, InboxQuery, PostedAppend, Ticket } from "../protocol/log/inbox-store.ts";
import { decodeAck, decodeBatch, encodeAck, encodeBatch } from "./append-format.ts";
import { decodeError, encodeError } from "./error-format.ts";
import { damaged } from "./format-errors.ts";
import { type JsonObject, readBytes } from "./json-fields.ts";
import { textBytes } from "./utf8-text.ts";

const REQUEST_FORMAT = 1;
const ANSWER_FORMAT = 1;

/** The same batch always has the same bytes: a put that is repeated changes nothing (36). */
export function encodePosted(append: PostedAppend): Uint8Array {
  return textBytes(JSON.stringify({ format: REQUEST_FORMAT, ...encodeBatch(append) }));
}

/** `data_corrupt` for what `encodePosted` never gives. */
export function decodePosted(bytes: Uint8Array): PostedAppend {
  return readBytes("a posted append", bytes, (fields) => {
    fields.format(REQUEST_FORMAT);
    return decodeBatch(fields);
  });
}

export function encodeAnswer(answer: InboxAnswer): Uint8Array {
  return textBytes(JSON.stringify({ format: ANSWER_FORMAT, kind: answer.kind, ...answerFields(answer) }));
}

/** `data_corrupt` for what `encodeAnswer` never gives. */
export function decodeAnswer(bytes: Uint8Array): InboxAnswer {
  return readBytes("an answer", bytes, (fields): InboxAnswer => {
    fields.format(ANSWER_FORMAT);
    const kind = fields.oneOf("kind", ["recorded", "refused", "not-served"]);
    switch (kind) {
      case "recorded": {
        const { durableIn, ...ack } = decodeAck(fields.json("ack"));
        if (durableIn !== undefined) throw damaged("an answer", "it says where a batch is durable");
        return { kind, ack };
      }
      case "refused": {
        const error = fields.object("error", decodeError);
        if (!fields.has("ruledOut")) return { kind, error };
        if (!fields.boolean("ruledOut")) throw damaged("an answer", "ruledOut is there and false");
        return { kind, error, ruledOut: true };
      }
      case "not-served":
        return { kind };
    }
  });
}

function answerFields(answer: InboxAnswer): JsonObject {
  switch (answer.kind) {
    case "recorded": {
      // An acknowledgement of the holder's own callers may be given, and says more than an answer does.
      const { start, last, tail, duplicate, epoch, ownerRegion } = answer.ack;
      return { ack: encodeAck({ start, last, tail, duplicate, epoch, ownerRegion }) };
    }
    case "refused":
      return { error: encodeError(answer.error), ...(answer.ruledOut === true ? { ruledOut: true } : {}) };
    case "not-served":
      return {};
  }
}

/** What the keys of a birth's and tenure's requests have in common. */
export function requestPartition(log: LogIncarnation, of: Pick<InboxQuery, "birth" | "tenure">): string {
  return [log, of.birth, of.tenure].map(escaped).join("#");
}

export function requestSort({ revision, id }: Pick<Ticket, "revision" | "id">): string {
  return `${digits(revision)}#${escaped(id)}`;
}

/** Every sort key of a higher revision, and no other, is greater. */
export function behindRevision(revision: number): string {
  return `${digits(revision)}$`;
}

/** Greater than every sort key. */
export const BEHIND_REQUESTS = ":";

/** The ticket of a request's keys; undefined for a sort key that `requestSort` never gives. */
export function ticketOf(of: Pick<InboxQuery, "birth" | "tenure">, sort: string): Ticket | undefined {
  const [, revision, id] = /^(\d{16})#([\w.~%-]*)$/.exec(sort) ?? [];
  if (revision === undefined || id === undefined || !Number.isSafeInteger(Number(revision))) return undefined;
  const { birth, tenure } = of;
  return { birth, tenure, revision: Number(revision), id: ticketId(restored(id)) };
}

/** Names one ticket among all. */
export function ticketAddress(log: LogIncarnation, ticket: Ticket): string {
  return `${requestPartition(log, ticket)}#${requestSort(ticket)}`;
}

function digits(revision: number): string {
  assert(Number.isSafeInteger(revision) && revision >= 0, `a revision is a whole number, got ${revision}`);
  return String(revision).padStart(16, "0");
}

function escaped(text: string): string {
  return text.replace(/[^\w.~-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function restored(text: string): string {
  return text.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
