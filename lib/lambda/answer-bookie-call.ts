/**
 * A call of a bookie that came to its function, given to the bookie; its answer, or failure, as a value. What
 * a function was not deployed for it refuses before the bookie hears of it: unknown to the caller, and never
 * a negative (rule 21).
 */
import {
  type BookieAnswer,
  type BookieCall,
  decodeBookieCall,
  encodeBookieAnswer,
  isReading,
} from "../adapters/aws/bookie-call.ts";
import { replyTo } from "../adapters/aws/call-envelope.ts";
import type { BookieAccess } from "../environment.ts";
import type { JsonObject } from "../formats/json-fields.ts";
import { FencelineError, unavailable } from "../protocol/errors.ts";
import type { Bookie } from "../protocol/ports.ts";

export async function answerBookieCall(
  bookie: Bookie,
  event: unknown,
  access: BookieAccess = "write",
): Promise<JsonObject> {
  return await replyTo(async () => {
    const { bookie: meant, call } = decodeBookieCall(event);
    // Rule 21: what this storage holds says nothing about another bookie's.
    if (meant !== bookie.id) throw unavailable(`this function is ${bookie.id}, not ${meant}`, "none");
    if (access === "read" && !isReading(call)) throw readsOnly(bookie, call);
    return await answer(bookie, call);
  }, encodeBookieAnswer);
}

function readsOnly({ id }: Bookie, { operation }: BookieCall): FencelineError {
  return new FencelineError("unavailable", {
    message: `${id}: this function reads, and ${operation} writes; call the bookie's other function`,
    sideEffects: "none",
    retryable: false,
  });
}

async function answer(bookie: Bookie, call: BookieCall): Promise<BookieAnswer> {
  switch (call.operation) {
    case "add":
      return await bookie.add(call.entry);
    case "recovery-add":
      return await bookie.recoveryAdd(call.entry);
    case "read":
      return await bookie.read(call.ledgerId, call.entryId);
    case "read-several":
      return { kind: "slots", slots: await readSlots(bookie, call) };
    case "recovery-read":
      return await bookie.recoveryRead(call.ledgerId, call.entryId);
    case "seal":
      return await bookie.seal(call.ledgerId, call.entryId);
    case "tail":
      return { kind: "tail", tail: await bookie.tail(call.ledgerId) };
    case "fence":
      return { kind: "tail", tail: await bookie.fence(call.ledgerId) };
    case "delete-entries":
      await bookie.deleteEntries(call.ledgerId, call.entryId);
      return { kind: "done" };
    case "forget":
      await bookie.forget(call.ledgerId);
      return { kind: "done" };
  }
}

async function readSlots(bookie: Bookie, call: Extract<BookieCall, { operation: "read-several" }>) {
  const several = await bookie.readSeveral?.(call.ledgerId, call.entryIds);
  if (several !== undefined) return several;
  return await Promise.all(
    call.entryIds.map((entryId) => bookie.read(call.ledgerId, entryId).catch(() => undefined)),
  );
}
