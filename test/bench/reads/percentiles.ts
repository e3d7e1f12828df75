/** Exact percentiles by nearest rank. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

export function percentilesOf(values: Float64Array): Percentiles {
  const sorted = Float64Array.from(values).sort();
  return { p50: at(sorted, 0.5), p99: at(sorted, 0.99), p999: at(sorted, 0.999) };
}

/** The value that the share `p` of `sorted` stays within. */
export function at(sorted: Float64Array, p: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))];
  if (value === undefined) throw new RangeError("no percentile of nothing");
  return value;
}
