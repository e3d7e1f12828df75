/** What the writers of logs are given beside the ports of every ledger operation. */
import type { FencelineError } from "../errors.ts";
import type { LogIncarnation, LogName, Region, SegmentNumber } from "../ids.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import type { LeaseStore } from "../ports.ts";
import type { InboxStore } from "./inbox-store.ts";
import type { AppendAck, AppendRequest, Ownership } from "./operations.ts";

/** The leases of the region that this process runs in. */
export interface RegionLeases {
  readonly store: LeaseStore;
  /** Names this process for people. */
  readonly holder: string;
}

/** What becomes of an append. Nothing of it was sent unless it was acknowledged or its error says so. */
export type AppendAnswer =
  | { readonly kind: "acknowledged"; readonly ack: AppendAck }
  /** Another region owns the log. `alive`: the log was to be taken over, and its owner went on meanwhile. */
  | { readonly kind: "not-owner"; readonly owner: Region; readonly alive: boolean }
  /** The lease table of the region where it arrived does not answer, so that region cannot own logs. */
  | { readonly kind: "cannot-own"; readonly error: FencelineError }
  /** `ruledOut`: no attempt at this batch is recorded, nor ever will be. A defect is an error of any kind. */
  | { readonly kind: "failed"; readonly error: unknown; readonly ruledOut?: true };

export const failed = (error: unknown): AppendAnswer => ({ kind: "failed", error });

/** What the other region's function said; both are answers, and so signs of life. */
export type ForwardAnswer =
  | { readonly kind: "acknowledged"; readonly ack: AppendAck }
  | { readonly kind: "refused"; readonly error: FencelineError };

/** What the refusal says: the kinds that decide where the append goes next travel as an error's code. */
export function answerOf(answer: ForwardAnswer): AppendAnswer {
  if (answer.kind === "acknowledged") return answer;
  const { error } = answer;
  const { code, details, sideEffects } = error;
  const owner = details.owner as Region | undefined;
  if (sideEffects === "none" && code === "not_owner" && owner !== undefined) {
    return { kind: "not-owner", owner, alive: false };
  }
  if (sideEffects === "none" && code === "region_unavailable" && details.cannot_own === true) {
    return { kind: "cannot-own", error };
  }
  const isRuledOut = code === "log_sealed" && details.earlier_attempts === "not_recorded";
  return { kind: "failed", error, ...(isRuledOut ? { ruledOut: true } : {}) };
}

/**
 * What one region asks of another about a log's owner. Plain values, so that they travel as JSON. Each may be
 * asked twice.
 */
export type OwnerRequest =
  /** To the owner: leave the log to that region. */
  | { readonly kind: "hand-over"; readonly log: LogName; readonly to: Region }
  /**
   * To the next owner: open the next segment. `from`: whom it may be taken from. `epoch`: the last segment
   * when that was decided; behind another one the owner has gone on while the request was on its way.
   */
  | TakeOverRequest
  /** To the owner: settle the tail (rule 14). */
  | { readonly kind: "settle"; readonly log: LogName };

export interface TakeOverRequest {
  readonly kind: "take-over";
  readonly log: LogName;
  readonly from?: Region;
  readonly epoch?: SegmentNumber;
}

/** Served or refused where it arrives, never passed on. */
export type OwnerAnswer =
  /** `ownership`: of a transfer. */
  | { readonly kind: "done"; readonly ownership?: Ownership }
  | { readonly kind: "refused"; readonly error: FencelineError };

/**
 * Port: the `append` functions of other regions. A call that rejects got no answer; its error's side effects
 * are "none" only if it certainly was not delivered. Too much to do over there is an answer. A call that this
 * process may not make rejects with `CallDenied`. An append is delivered once at most, whatever is lost.
 */
export interface RegionAppends {
  /** `request` is served or refused there, never forwarded again. */
  append(region: Region, request: AppendRequest): Promise<ForwardAnswer>;
  /** Whether that region can own logs now, a busy one too; changes nothing. */
  canOwn(region: Region, log: LogIncarnation): Promise<boolean>;
  /** `LogAppends.serve` over there. */
  ask(region: Region, request: OwnerRequest): Promise<OwnerAnswer>;
}

export interface LogPorts extends LedgerPorts {
  /** How the region's processes pass a log's lease. Without leases each opens segments of its own. */
  readonly leases?: RegionLeases;
  /** How this region's processes hand appends to the lease's holder. Without it they wait for the lease. */
  readonly inbox?: InboxStore;
  /** Where appends to logs of other regions go. Without it a log is taken over where an append arrives. */
  readonly regions?: RegionAppends;
}

/**
 * Port: how a reader has a tail settled that it cannot decide (rule 14). The composition root lets it call
 * the `append` function of its own region, which asks the owner's and takes over if that is silent.
 */
export interface Settler {
  /** Resolves when the tail is settled; a rejection says nothing, the reader looks again. */
  settle(ownerRegion: Region, log: LogName): Promise<void>;
}
