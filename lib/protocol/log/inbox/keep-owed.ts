/**
 * Keeping (rule 41): what a log's lease item owes is decided even if nobody waits for it, and what cannot be
 * decided, because its ledger is gone, leaves the list by age alone.
 *
 * KO1 The present tenure's ledger is not touched, expired or not: it may be serving.
 * KO2 What is dropped by age was kept by its tenure a keeping time ago: any post to that tenure is older than
 *     the age at which an absent answer proves something (39 iii, U05).
 */

import { inboxLimits } from "../inbox-limits.ts";
import { dropOwed, readLease } from "../lease/lease-steps.ts";
import type { LogRef } from "../log-ref.ts";
import { type DecidePorts, decideOwed } from "./decide-owed.ts";

/** Decides or drops what it can. Throws what stores throw; the next pass goes on. */
export async function keepOwed(ports: DecidePorts, log: LogRef): Promise<void> {
  const leases = { leases: ports.leases.store, clock: ports.clock, random: ports.random };
  const lease = (await readLease(leases, log.incarnation))?.lease;
  for (const owed of lease?.owed ?? []) {
    if (owed.tenure === lease?.tenure) continue; // KO1
    const decided = await decideOwed(ports, log, owed);
    const isOld = ports.clock.nowMs() - owed.keptAtMs > inboxLimits.keepMs;
    if (decided === "gone" && isOld) await dropOwed(leases, log.incarnation, owed); // KO2
  }
}
