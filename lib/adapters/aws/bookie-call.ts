/**
 * A bookie's calls as they travel to its function, and its answers as they come back: JSON, entries in base
 * 64. The call names the bookie that is meant: a function that has become another bookie answers it with a
 * failure (rule 21).
 */
import { decodeEntry, encodeEntry } from "../../formats/entry-format.ts";
import { damaged } from "../../formats/format-errors.ts";
import { type JsonFields, type JsonObject, type JsonValue, readObject } from "../../formats/json-fields.ts";
import {
  type BookieId,
  bookieId,
  type EntryId,
  entryId,
  type LedgerId,
  ledgerId,
} from "../../protocol/ids.ts";
import type {
  AddAnswer,
  ReadAnswer,
  RecoveryAddAnswer,
  RecoveryReadAnswer,
  SealAnswer,
  SealedEntry,
  SlotAnswers,
  TailAnswer,
} from "../../protocol/ports.ts";
import { CALL_FORMAT, PAYLOAD_BYTES_MAX } from "./call-envelope.ts";

const entryOperations = ["add", "recovery-add"] as const;
const slotOperations = ["read", "recovery-read", "seal", "delete-entries"] as const;
const ledgerOperations = ["tail", "fence", "forget"] as const;
const operations = [...entryOperations, ...slotOperations, ...ledgerOperations, "read-several"] as const;

export type BookieCall =
  | { readonly operation: (typeof entryOperations)[number]; readonly entry: SealedEntry }
  | {
      readonly operation: (typeof slotOperations)[number];
      readonly ledgerId: LedgerId;
      readonly entryId: EntryId;
    }
  | { readonly operation: (typeof ledgerOperations)[number]; readonly ledgerId: LedgerId }
  | {
      readonly operation: "read-several";
      readonly ledgerId: LedgerId;
      readonly entryIds: readonly EntryId[];
    };

/** What changes nothing: all that a function may be asked that was deployed for reading. */
const reading: ReadonlySet<BookieCall["operation"]> = new Set(["read", "read-several", "tail"]);

export function isReading({ operation }: BookieCall): boolean {
  return reading.has(operation);
}

export type BookieAnswer =
  | AddAnswer
  | ReadAnswer
  | RecoveryReadAnswer
  | RecoveryAddAnswer
  | SealAnswer
  | { readonly kind: "tail"; readonly tail: TailAnswer }
  | { readonly kind: "slots"; readonly slots: SlotAnswers }
  | { readonly kind: "done" };

export function encodeBookieCall(bookie: BookieId, call: BookieCall): JsonObject {
  const head = { format: CALL_FORMAT, bookie, operation: call.operation };
  if ("entry" in call) return { ...head, entry: base64(call.entry) };
  if ("entryIds" in call) return { ...head, ledgerId: call.ledgerId, entryIds: [...call.entryIds] };
  if ("entryId" in call) return { ...head, ledgerId: call.ledgerId, entryId: call.entryId };
  return { ...head, ledgerId: call.ledgerId };
}

/** `data_corrupt` for what `encodeBookieCall` never gives. */
export function decodeBookieCall(value: unknown): { readonly bookie: BookieId; readonly call: BookieCall } {
  return readObject("a call of a bookie", value, (fields) => {
    fields.format(CALL_FORMAT);
    return { bookie: bookieId(fields.text("bookie")), call: decodeCall(fields) };
  });
}

function decodeCall(fields: JsonFields): BookieCall {
  const operation = fields.oneOf("operation", operations);
  if (isOneOf(entryOperations, operation)) return { operation, entry: entryOf(fields.text("entry")) };
  const ledger = ledgerId(fields.integer("ledgerId", 0));
  if (isOneOf(ledgerOperations, operation)) return { operation, ledgerId: ledger };
  // Slots are counted from 0; the end of an empty ledger lies before them.
  if (isOneOf(slotOperations, operation)) {
    return { operation, ledgerId: ledger, entryId: entryId(fields.integer("entryId", -1)) };
  }
  const entryIds = fields.json("entryIds");
  if (!Array.isArray(entryIds)) throw damaged("a call of a bookie", "entryIds is no list");
  return { operation, ledgerId: ledger, entryIds: entryIds.map((id) => entryId(Number(id))) };
}

function isOneOf<const T extends string>(list: readonly T[], value: string): value is T {
  return list.some((one) => one === value);
}

export function encodeBookieAnswer(answer: BookieAnswer): JsonObject {
  switch (answer.kind) {
    case "entry":
      return { kind: "entry", copy: answer.copy, entry: base64(answer.entry) };
    case "conflict":
      return { kind: "conflict", occupant: base64(answer.occupant) };
    case "tail":
      return {
        kind: "tail",
        ...(answer.tail.highest === undefined ? {} : { highest: base64(answer.tail.highest) }),
      };
    case "slots":
      return { kind: "slots", slots: encodeSlots(answer.slots) };
    default:
      return { kind: answer.kind };
  }
}

/** Room for what an answer has beside its entries. */
const SLOTS_BYTES_MAX = PAYLOAD_BYTES_MAX - 256 * 1024;

/** What does not fit any more is unknown, and asked for again (ports.ts, readSeveral). */
function encodeSlots(slots: SlotAnswers): JsonValue[] {
  let bytes = 0;
  return slots.map((slot) => {
    if (slot === undefined) return null;
    const encoded = encodeBookieAnswer(slot);
    bytes += typeof encoded.entry === "string" ? encoded.entry.length : 0;
    return bytes > SLOTS_BYTES_MAX ? null : encoded;
  });
}

/** `data_corrupt` for what `encodeBookieAnswer` never gives. */
export function decodeBookieAnswer(value: unknown): BookieAnswer {
  return readObject("a bookie's answer", value, (fields): BookieAnswer => {
    const kinds = ["ok", "fenced", "entry", "tombstone", "nothing", "conflict"] as const;
    const kind = fields.oneOf("kind", [...kinds, "sealed", "occupied", "tail", "slots", "done"]);
    switch (kind) {
      case "entry": {
        const copy = fields.oneOf("copy", ["original", "recovered"]);
        return { kind, copy, entry: entryOf(fields.text("entry")) };
      }
      case "conflict":
        return { kind, occupant: entryOf(fields.text("occupant")) };
      case "tail":
        return { kind, tail: fields.has("highest") ? { highest: entryOf(fields.text("highest")) } : {} };
      case "slots":
        return { kind, slots: decodeSlots(fields.json("slots")) };
      default:
        return { kind };
    }
  });
}

function decodeSlots(value: unknown): SlotAnswers {
  if (!Array.isArray(value)) throw damaged("a bookie's answer", "slots is no list");
  return value.map((slot: unknown) => (slot === null ? undefined : slotOf(decodeBookieAnswer(slot))));
}

/** The answer to a read, and nothing else (rule 21). */
function slotOf(answer: BookieAnswer): ReadAnswer {
  if (answer.kind === "entry" || answer.kind === "tombstone" || answer.kind === "nothing") return answer;
  throw damaged("a bookie's answer", `${answer.kind} is no answer to a read`);
}

function base64(entry: SealedEntry): string {
  const bytes = encodeEntry(entry);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function entryOf(text: string): SealedEntry {
  // Memory of its own: an entry is a view of its bytes and must not share Buffer's pool.
  return decodeEntry(new Uint8Array(Buffer.from(text, "base64")));
}
