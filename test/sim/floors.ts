/** What a run of many seeds must have seen to mean anything. */
import type { Fault, FunctionFault, MessageFaultKind } from "./faults.ts";
import type { RunCounts } from "./run-counts.ts";

export const floors = {
  seeds: 2_000,
  acknowledged: 400_000,
  recoveries: 10_000,
  ensembleChanges: 5_000,
  takeovers: 2_000,
  /** Times that each kind of fault fired. */
  eachFault: 500,
} as const;

/** Under the names that they are counted by. One that is missing here would not be missed when it never fires. */
const messages: Readonly<Record<MessageFaultKind, readonly string[]>> = {
  "request-lost": ["request-lost"],
  "request-late": ["request-late", "entry-store-request-late", "metadata-request-late"],
  "request-duplicated": ["request-duplicated"],
  "request-refused": ["request-refused"],
  "link-cut": ["link-cut"],
  "link-cut-back": ["link-cut-back"],
  "region-hanging": ["region-hanging", "metadata-region-hanging"],
  "region-refusing": ["region-refusing", "metadata-region-refusing"],
  "failed-before": ["entry-store-failed-before", "metadata-failed-before"],
  "failed-after": ["entry-store-failed-after", "metadata-failed-after"],
  throttled: ["entry-store-throttled", "metadata-throttled"],
  conflict: ["entry-store-conflict", "metadata-conflict"],
  stale: ["entry-store-stale", "metadata-stale"],
  "reply-lost": ["reply-lost", "metadata-reply-lost"],
  "reply-late": ["reply-late", "entry-store-reply-late"],
};
/** Those of functions strike in profiles of their own. */
const others: Readonly<Record<Exclude<Fault["kind"], MessageFaultKind | FunctionFault["kind"]>, true>> = {
  frozen: true,
  crashed: true,
  "clock-skewed": true,
  "clock-jumped": true,
  "copy-rotten": true,
  "storage-emptied": true,
  "storage-replaced": true,
  "bookie-added": true,
  "bookie-read-only": true,
  "bookie-lost": true,
  "region-draining": true,
  "region-lost": true,
};

/** What was missed, a line each. */
export function missedFloors(seeds: number, counts: RunCounts): string[] {
  const { acknowledged, recoveries, ensembleChanges, takeovers } = counts;
  const numbers = { seeds, acknowledged, recoveries, ensembleChanges, takeovers };
  const missed = Object.entries(numbers).flatMap(([name, number]) => {
    const floor = floors[name as keyof typeof numbers];
    return number >= floor ? [] : [`${name}: ${number}, at least ${floor} are wanted`];
  });
  for (const kind of [...Object.values(messages).flat(), ...Object.keys(others)]) {
    const fired = counts.faults.get(kind) ?? 0;
    if (fired < floors.eachFault)
      missed.push(`fault ${kind}: ${fired} times, at least ${floors.eachFault} are wanted`);
  }
  return missed;
}
