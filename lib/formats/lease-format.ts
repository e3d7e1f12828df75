/** What a region's lease table holds, a lease or an owner's failures, as plain JSON with a format number. */
import {
  bookieId,
  entryId,
  leaseBirth,
  ledgerId,
  NO_ENTRY,
  region,
  seqNum,
  tenure,
  writeToken,
} from "../protocol/ids.ts";
import type { Lease, LedgerTail, LogContest, OwedLedger, OwnerFailures } from "../protocol/lease.ts";
import { type JsonFields, type JsonObject, readObject } from "./json-fields.ts";
import { decodeVersion, encodeVersion } from "./version-format.ts";

const LEASE_FORMAT = 1;

export function encodeLease(lease: Lease): JsonObject {
  return {
    format: LEASE_FORMAT,
    ...(lease.birth === undefined ? {} : { birth: lease.birth }),
    tenure: lease.tenure,
    holder: lease.holder,
    expiresAtMs: lease.expiresAtMs,
    clean: lease.clean,
    wanted: lease.wanted,
    ...(lease.tail === undefined ? {} : encodeTail(lease.tail)),
    suspects: [...lease.suspects],
    ...(lease.contest === undefined ? {} : { contest: { ...lease.contest } }),
    owed: lease.owed.map((owed) => ({ ...owed })),
    ...(lease.floor === undefined ? {} : { floor: lease.floor }),
  };
}

/** `data_corrupt` if the object is no lease, or of a format that this build does not know. */
export function decodeLease(value: unknown): Lease {
  return readObject("a writer lease", value, decodeFields);
}

function encodeTail(tail: LedgerTail): JsonObject {
  return {
    ledgerId: tail.ledgerId,
    ledgerVersion: encodeVersion(tail.ledgerVersion),
    lastAddConfirmed: tail.lastAddConfirmed,
    nextSeqNum: tail.nextSeqNum,
    lastTimestampMs: tail.lastTimestampMs,
    ledgerBytes: tail.ledgerBytes,
    ...(tail.producersAt === undefined ? {} : { producersAt: tail.producersAt }),
  };
}

function decodeFields(fields: JsonFields): Lease {
  fields.format(LEASE_FORMAT);
  return {
    ...(fields.has("birth") ? { birth: leaseBirth(fields.text("birth")) } : {}),
    tenure: tenure(fields.text("tenure")),
    holder: fields.text("holder"),
    expiresAtMs: fields.number("expiresAtMs"),
    clean: fields.boolean("clean"),
    wanted: fields.boolean("wanted"),
    ...(fields.has("ledgerId") ? { tail: decodeTail(fields) } : {}),
    suspects: fields.textList("suspects").map(bookieId),
    ...(fields.has("contest") ? { contest: fields.object("contest", decodeContest) } : {}),
    owed: fields.list("owed", decodeOwed),
    ...(fields.has("floor") ? { floor: fields.integer("floor", 0) } : {}),
  };
}

function decodeOwed(fields: JsonFields): OwedLedger {
  return {
    tenure: tenure(fields.text("tenure")),
    ledgerId: ledgerId(fields.integer("ledgerId", 0)),
    keptAtMs: fields.number("keptAtMs"),
  };
}

function decodeContest(fields: JsonFields): LogContest {
  return {
    region: region(fields.text("region")),
    times: fields.integer("times", 0),
    aloneUntilMs: fields.number("aloneUntilMs"),
  };
}

/** All of its fields or none: a tail without one of them is damaged. */
function decodeTail(fields: JsonFields): LedgerTail {
  return {
    ledgerId: ledgerId(fields.integer("ledgerId", 0)),
    ledgerVersion: fields.object("ledgerVersion", decodeVersion),
    lastAddConfirmed: entryId(fields.integer("lastAddConfirmed", NO_ENTRY)),
    nextSeqNum: seqNum(fields.integer("nextSeqNum", 0)),
    lastTimestampMs: fields.number("lastTimestampMs"),
    ledgerBytes: fields.integer("ledgerBytes", 0),
    ...(fields.has("producersAt") ? { producersAt: entryId(fields.integer("producersAt", 0)) } : {}),
  };
}

const OWNER_FAILURES_FORMAT = 1;

export function encodeOwnerFailures({ failures, firstAtMs, lastAtMs }: OwnerFailures): JsonObject {
  return { format: OWNER_FAILURES_FORMAT, failures: [...failures], firstAtMs, lastAtMs };
}

/** Throws as `decodeLease` does. */
export function decodeOwnerFailures(value: unknown): OwnerFailures {
  return readObject("an owner's failures", value, (fields) => {
    fields.format(OWNER_FAILURES_FORMAT);
    return {
      failures: fields.textList("failures").map(writeToken),
      firstAtMs: fields.number("firstAtMs"),
      lastAtMs: fields.number("lastAtMs"),
    };
  });
}
