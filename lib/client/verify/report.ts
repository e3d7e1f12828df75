/** The sum of a verification: counts, gaps, and whether it passed. */
import { checkHistory, type Violation } from "./check-history.ts";
import type { Attempt, History } from "./history.ts";

export interface VerifyReport {
  readonly passed: boolean;
  readonly violations: readonly Violation[];
  /** All of them; `violations` names the first. */
  readonly violationCount: number;
  readonly logs: number;
  readonly records: number;
  readonly attempts: number;
  readonly acknowledged: number;
  readonly unknown: number;
  /** Of all attempts. */
  readonly unknownShare: number;
  readonly refused: number;
  /** How often each code was answered that was no acknowledgement. */
  readonly codes: Readonly<Record<string, number>>;
  readonly strongReads: number;
  readonly strongReadsFailed: number;
  /** Of all strong reads. */
  readonly strongReadsFailedShare: number;
  readonly durationMs: number;
  readonly acknowledgedPerSecond: number;
  /** The longest time without an accepted append, to any of the logs. */
  readonly longestGapMs: number;
  /** When that began, in ms since the start. */
  readonly longestGapAtMs: number;
  /** The longest time that one of the logs took no append. */
  readonly longestGapOfOneLogMs: number;
}

/** What a verification may lack and still pass: more says too little for or against the promises. */
export interface VerifyBounds {
  /** Of all attempts. */
  readonly unknownShareMax: number;
  /** Of all strong reads. */
  readonly readsFailedShareMax: number;
}

const VIOLATIONS_NAMED = 20;

/** It passes only if something was acknowledged, and something read strongly behind it. */
export function reportOf(history: History, bounds: VerifyBounds): VerifyReport {
  const { attempts, reads, readsFailed, startMs, endMs } = history;
  const violations = checkHistory(history);
  const of = (kind: Attempt["outcome"]["kind"]) => attempts.filter(({ outcome }) => outcome.kind === kind);
  const acknowledged = of("acknowledged");
  const unknown = of("unknown").length;
  const unknownShare = attempts.length === 0 ? 0 : unknown / attempts.length;
  const strongReadsFailedShare = readsFailed / Math.max(1, reads.length + readsFailed);
  const isWithin =
    unknownShare <= bounds.unknownShareMax && strongReadsFailedShare <= bounds.readsFailedShareMax;
  const hasSeen = acknowledged.length > 0 && reads.length > 0;
  const gap = longestGap(acknowledged, startMs, endMs);
  const gaps = [...history.logs.keys()].map(
    (log) =>
      longestGap(
        acknowledged.filter((one) => one.log === log),
        startMs,
        endMs,
      ).ms,
  );
  const durationMs = endMs - startMs;
  return {
    passed: violations.length === 0 && isWithin && hasSeen,
    violations: violations.slice(0, VIOLATIONS_NAMED),
    violationCount: violations.length,
    logs: history.logs.size,
    records: [...history.logs.values()].reduce((sum, records) => sum + records.length, 0),
    attempts: attempts.length,
    acknowledged: acknowledged.length,
    unknown,
    unknownShare,
    refused: of("refused").length,
    codes: codesOf(attempts),
    strongReads: reads.length,
    strongReadsFailed: readsFailed,
    strongReadsFailedShare,
    durationMs: Math.round(durationMs),
    acknowledgedPerSecond: Math.round((acknowledged.length * 1_000) / Math.max(1, durationMs)),
    longestGapMs: Math.round(gap.ms),
    longestGapAtMs: Math.round(gap.atMs),
    longestGapOfOneLogMs: Math.round(Math.max(0, ...gaps)),
  };
}

/** From the start to the first, between two, and from the last to the end. */
function longestGap(acknowledged: readonly Attempt[], startMs: number, endMs: number) {
  const times = acknowledged.map((one) => Math.min(one.endMs, endMs)).sort((one, other) => one - other);
  let longest = { ms: 0, atMs: 0 };
  let before = startMs;
  for (const time of [...times, endMs]) {
    if (time - before > longest.ms) longest = { ms: time - before, atMs: before - startMs };
    before = time;
  }
  return longest;
}

function codesOf(attempts: readonly Attempt[]): Record<string, number> {
  const codes: Record<string, number> = {};
  for (const { outcome } of attempts) {
    if (outcome.kind !== "acknowledged") codes[outcome.code] = (codes[outcome.code] ?? 0) + 1;
  }
  return codes;
}
