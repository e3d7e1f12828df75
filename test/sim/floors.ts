/** What a run of many seeds must have seen to mean anything. */
import type { Fault, FunctionFault, MessageFaultKind } from "./faults.ts";
import type { RunCounts } from "./run-counts.ts";

interface Floors extends Readonly<Record<"seeds" | Exclude<keyof RunCounts, "faults" | "steps">, number>> {
  /** Names that faults are counted by. */
  readonly kinds: readonly string[];
}

/** Times that each kind of fault fired. */
export const EACH_FAULT = 500;

type Named = Readonly<Record<MessageFaultKind, readonly string[]>>;

/** Under the names that they are counted by. One that is missing here would not be missed when it never fires. */
const messages: Named = {
  "request-lost": ["request-lost"],
  "request-late": ["request-late", "entry-store-request-late", "metadata-request-late"],
  "request-duplicated": ["request-duplicated", "metadata-request-duplicated"],
  "request-refused": ["request-refused"],
  "link-cut": ["link-cut"],
  "link-cut-back": ["link-cut-back"],
  "region-hanging": ["region-hanging", "metadata-region-hanging", "metadata-home-lost"],
  "region-refusing": ["region-refusing", "metadata-region-refusing"],
  "failed-before": ["entry-store-failed-before", "metadata-failed-before"],
  "failed-after": ["entry-store-failed-after", "metadata-failed-after"],
  throttled: ["entry-store-throttled", "metadata-throttled"],
  conflict: ["entry-store-conflict", "metadata-conflict"],
  stale: ["entry-store-stale", "metadata-stale"],
  "reply-lost": ["reply-lost", "metadata-reply-lost"],
  "reply-late": ["reply-late", "entry-store-reply-late", "metadata-reply-late"],
};

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

/** The profiles without functions, in turn. */
export const floors: Floors = {
  seeds: 2_000,
  acknowledged: 400_000,
  recoveries: 10_000,
  ensembleChanges: 5_000,
  takeovers: 2_000,
  kinds: [...Object.values(messages).flat(), ...Object.keys(others)],
};

/** Of functions and leases. A region that is away takes its functions with it under its own name. */
const functionMessages: Named = {
  "request-lost": ["function-request-lost", "lease-request-lost"],
  "request-late": ["function-request-late", "lease-request-late"],
  "request-duplicated": ["function-request-duplicated", "lease-request-duplicated"],
  "request-refused": ["function-request-refused"],
  "link-cut": ["function-link-cut"],
  "link-cut-back": ["function-link-cut-back"],
  "region-hanging": ["lease-region-hanging", "region-hanging"],
  "region-refusing": ["lease-region-refusing", "region-refusing"],
  "failed-before": ["function-failed-before", "lease-failed-before"],
  "failed-after": ["function-failed-after", "lease-failed-after"],
  throttled: ["function-throttled", "lease-throttled"],
  // Neither a function nor a lease table says so, and a lease is read as it is.
  conflict: [],
  stale: [],
  "reply-lost": ["function-reply-lost", "lease-reply-lost"],
  "reply-late": ["function-reply-late", "lease-reply-late"],
};

const functionOthers: Readonly<Record<FunctionFault["kind"], true>> = {
  "request-frozen": true,
  "request-crashed": true,
};

/** The profiles in which logs are written through functions, in turn; what strikes elsewhere is counted there. */
export const functionFloors: Floors = {
  seeds: 1_000,
  acknowledged: 40_000,
  recoveries: 10_000,
  ensembleChanges: 100,
  takeovers: 1_500,
  kinds: [...Object.values(functionMessages).flat(), ...Object.keys(functionOthers)],
};

/** What was missed, a line each. */
export function missedFloors({ kinds, ...numbers }: Floors, seeds: number, counts: RunCounts): string[] {
  const seen = { ...counts, seeds };
  const missed = Object.entries(numbers).flatMap(([name, floor]) => {
    const number = seen[name as keyof typeof numbers];
    return number >= floor ? [] : [`${name}: ${number}, at least ${floor} are wanted`];
  });
  for (const kind of kinds) {
    const fired = counts.faults.get(kind) ?? 0;
    if (fired < EACH_FAULT) missed.push(`fault ${kind}: ${fired} times, at least ${EACH_FAULT} are wanted`);
  }
  return missed;
}
