/** The position of a record as one sortable text: log segment, entry, slot. */
import { FencelineError } from "../../errors.ts";
import { entryId, segmentNumber } from "../../ids.ts";
import type { Dlsn } from "./record.ts";

/**
 * Digits of a safe integer, and of a slot: every DLSN is as long as every other, so that text sorts as they
 * do.
 */
const NUMBER_DIGITS = 16;
const SLOT_DIGITS = 5;
const PATTERN = /^(\d{16})-(\d{16})-(\d{5})$/;

/** Negative if `one` is before `other`, positive if it is after, 0 if they are the same. */
export function compareDlsn(one: Dlsn, other: Dlsn): number {
  return one.segment - other.segment || one.entry - other.entry || one.slot - other.slot;
}

/** Text whose order by code unit is the order of positions. */
export function formatDlsn(dlsn: Dlsn): string {
  const parts = [digits(dlsn.segment, NUMBER_DIGITS), digits(dlsn.entry, NUMBER_DIGITS)];
  return [...parts, digits(dlsn.slot, SLOT_DIGITS)].join("-");
}

/** Reads what `formatDlsn` wrote. Throws `invalid_request`. */
export function parseDlsn(text: string): Dlsn {
  const match = PATTERN.exec(text);
  const [segment, entry, slot] = (match ?? []).slice(1).map(Number);
  const known = segment !== undefined && entry !== undefined && slot !== undefined;
  if (!known || segment < 1 || !Number.isSafeInteger(segment) || !Number.isSafeInteger(entry)) {
    throw new FencelineError("invalid_request", {
      message:
        `"${text}" is no DLSN; it has the form ${formatDlsn(EXAMPLE)} (segment from 1, entry, slot); ` +
        "use one that an append or a read returned",
    });
  }
  return { segment: segmentNumber(segment), entry: entryId(entry), slot };
}

const EXAMPLE: Dlsn = { segment: segmentNumber(1), entry: entryId(0), slot: 0 };

function digits(value: number, count: number): string {
  return String(value).padStart(count, "0");
}
