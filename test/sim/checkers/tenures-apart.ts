/**
 * A tenure belongs to the process that acquired it (rules 16, 20): it comes into a lease once, and while it is
 * there nobody else changes the lease, save for what concerns no holder: that it is wanted, and what is noted
 * of other regions.
 */
import type { Tenure } from "../../../lib/protocol/ids.ts";
import type { Lease } from "../../../lib/protocol/lease.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { Checker } from "./checker.ts";

export const tenuresApart: Checker = {
  name: "tenures-apart",
  watch(_world, report) {
    const owners = new Map<Tenure, SimulatedProcess>();
    return {
      leaseChanged({ log, before, after, process }) {
        const owner = owners.get(after.tenure);
        if (before?.tenure !== after.tenure) {
          if (owner !== undefined) report(`${process.name} acquires ${owner.name}'s old tenure`, log);
          owners.set(after.tenure, process);
        } else if (owner !== process && !leavesHolder(before, after)) {
          report(`${process.name} writes over the lease that ${owner?.name} holds`, log);
        }
      },
    };
  },
};

function leavesHolder(before: Lease, after: Lease): boolean {
  const holders = ({ tenure, holder, expiresAtMs, clean, tail, suspects }: Lease) =>
    JSON.stringify({ tenure, holder, expiresAtMs, clean, tail, suspects });
  return (after.wanted || !before.wanted) && holders(before) === holders(after);
}
