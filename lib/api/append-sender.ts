/**
 * Who sends an append: a producer, named in the body, or an Idempotency-Key. A key is a sender of one batch,
 * and nothing behind this file knows of keys. A key has a space in its sender's id and a producer has none,
 * so the two never share one.
 */
import { FencelineError } from "../protocol/errors.ts";
import { appendLimits } from "../protocol/log/records/append-limits.ts";
import type { Sender } from "../protocol/log/records/record.ts";
import { beginning } from "./log-name.ts";
import { pointerTo } from "./pointers.ts";

const KEY_MARK = "key ";

/** Characters of an Idempotency-Key and of a producer's id, at most. */
export const SENDER_NAME_LENGTH_MAX = appendLimits.senderIdLengthMax - KEY_MARK.length;

const NAME_PATTERN = /^[\x21-\x7e]+$/;

/** What OpenAPI says of an Idempotency-Key, and of a producer's id. */
export const senderNameNotes = {
  minLength: 1,
  maxLength: SENDER_NAME_LENGTH_MAX,
  pattern: "^[!-~]+$",
} as const;

/** The sender of the one batch that this key is of. */
export function keySender(key: string): Sender {
  return { id: KEY_MARK + key, epoch: 0, seq: 0 };
}

/** Undefined: a plain append. Throws `invalid_request`. The log itself checks the numbers. */
export function senderOf(producer: Sender | undefined, key: string | undefined): Sender | undefined {
  if (key !== undefined) checkName(key, "Idempotency-Key", pointerTo("header", ["idempotency-key"]));
  if (producer === undefined) return key === undefined ? undefined : keySender(key);
  const pointer = pointerTo("body", ["producer"]);
  if (key !== undefined) {
    throw invalid("an append has a producer or an Idempotency-Key, not both; leave one out", pointer);
  }
  checkName(producer.id, "producer/id", `${pointer}/id`);
  return producer;
}

function checkName(name: string, what: string, pointer: string): void {
  if (name.length <= SENDER_NAME_LENGTH_MAX && NAME_PATTERN.test(name)) return;
  const shown = JSON.stringify(beginning(name, 2 * SENDER_NAME_LENGTH_MAX));
  throw invalid(
    `${what} has 1 to ${SENDER_NAME_LENGTH_MAX} printable ASCII characters and no spaces, got ${shown}; ` +
      "a UUID will do",
    pointer,
  );
}

function invalid(message: string, pointer: string): FencelineError {
  return new FencelineError("invalid_request", {
    message,
    details: { errors: [{ pointer, detail: message }] },
  });
}
