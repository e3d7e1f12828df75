/** What the writers of logs are given beside the ports of every ledger operation. */
import type { FencelineError } from "../errors.ts";
import type { LogIncarnation, Region } from "../ids.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import type { LeaseStore } from "../ports.ts";
import type { AppendAck, AppendRequest } from "./operations.ts";

/** The leases of the region that this process runs in. */
export interface RegionLeases {
  readonly store: LeaseStore;
  /** Names this process for people. */
  readonly holder: string;
}

/** What the other region's function said; both are answers, and so signs of life. */
export type ForwardAnswer =
  | { readonly kind: "acknowledged"; readonly ack: AppendAck }
  | { readonly kind: "refused"; readonly error: FencelineError };

/**
 * Port: the `append` functions of other regions. A call that rejects got no answer; its error's side effects
 * are "none" only if it certainly was not delivered.
 */
export interface RegionAppends {
  /** `request` is served or refused there, never forwarded again. */
  append(region: Region, request: AppendRequest): Promise<ForwardAnswer>;
  /** Whether that region can own logs now; changes nothing. */
  canOwn(region: Region, log: LogIncarnation): Promise<boolean>;
}

export interface LogPorts extends LedgerPorts {
  /** How the region's processes pass the pen. Without leases each opens segments of its own. */
  readonly leases?: RegionLeases;
  /** Where appends to logs of other regions go. Without it a log is taken over where an append arrives. */
  readonly regions?: RegionAppends;
}
