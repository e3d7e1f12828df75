/** The steps of a read: which letter of rule 33 comes next, and with what. */
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import type { ChainItem, SegmentAt } from "../chain/segments.ts";

export interface ReadEnd {
  /** Exact if up to date, else a lower bound. */
  readonly tail: SeqNum;
  readonly upToDate: boolean;
  /** The log ends at `tail` for ever. */
  readonly sealed: boolean;
  /** The segment where the operation ended. */
  readonly segment?: SegmentAt;
}

export type Step =
  | { readonly to: "a" }
  | { readonly to: "ledger"; readonly segment: SegmentAt }
  | { readonly to: "b"; readonly segment: SegmentAt; readonly end: SeqNum }
  | { readonly to: "c" }
  | { readonly to: "d" }
  | { readonly to: "e"; readonly segment: SegmentAt; readonly tail: SeqNum; readonly openAndLast: boolean }
  | { readonly to: "f"; readonly gone?: SegmentAt }
  | { readonly to: "done"; readonly end: ReadEnd };

export const enter = (item: ChainItem): Step =>
  item.kind === "end" ? { to: "c" } : { to: "ledger", segment: item };

export const isOf = (item: ChainItem, segment: SegmentAt): boolean =>
  item.kind === "segment" && item.item.ledgerId === segment.item.ledgerId;

export function done(tail: SeqNum, upToDate: boolean, segment?: SegmentAt): Step {
  return {
    to: "done",
    end: { tail, upToDate, sealed: false, ...(segment === undefined ? {} : { segment }) },
  };
}

export function endOfLog(tail: SeqNum): Step {
  return { to: "done", end: { tail, upToDate: true, sealed: true } };
}

export function notSettled(error: FencelineError, cause: unknown): FencelineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `${error.message}; it could not be settled either: ${why}`;
  return new FencelineError(error.code, { message, sideEffects: "none", details: error.details, cause });
}
