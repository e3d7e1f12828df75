/** The auditor's bounds, their units and their reasons. Their relations are asserted on load. */
import { assert } from "../../assert.ts";
import { limits } from "../../limits.ts";

const MINUTE_MS = 60_000;

export const auditLimits = {
  /** One pass ends after this time, whatever is left for the next one. */
  passMs: 20_000,
  /** Ledgers and logs that one pass looks at, and how many at a time. */
  ledgersMax: 1_000,
  logsMax: 500,
  atOnce: 8,
  /** A younger ledger may still be on its way into its log: longer than any opening takes. */
  ageMs: 2 * MINUTE_MS,
  /** A lease that expired so long ago was left by a holder that is gone. */
  leaseExpiredMs: MINUTE_MS,
  /** Entries read at the begin of a segment to find a record in it; control entries are rare. */
  controlEntriesMax: 16,
  /** How long a log stays with its last owner before it returns to the region that it prefers. */
  preferReturnMs: MINUTE_MS,
  /** Segments of one owner, one behind another, that are looked at for how long it has owned their log. */
  ownedSegmentsMax: 32,
} as const;

assert(
  2 * (limits.appendDeadlineMs + limits.segmentOpenTimeoutMs) < auditLimits.ageMs,
  "the auditor leaves ledgers alone that an opening is about to name",
);
assert(
  limits.leaseTtlMs + limits.leaseSkewMaxMs < auditLimits.leaseExpiredMs,
  "a lease that is held has not expired long ago",
);
