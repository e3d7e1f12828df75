/** What the writers of logs are given beside the ports of every ledger operation. */
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import type { LeaseStore } from "../ports.ts";

/** The leases of the region that this process runs in. */
export interface RegionLeases {
  readonly store: LeaseStore;
  /** Names this process for people. */
  readonly holder: string;
}

export interface LogPorts extends LedgerPorts {
  /** How the region's processes pass the pen. Without leases each opens segments of its own. */
  readonly leases?: RegionLeases;
}
