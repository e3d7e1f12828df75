/**
 * Latencies as published for the services that bookies run on. Reads from S3 Standard: the quantiles measured
 * for small random reads, joined by straight lines of log latency over the normal deviate (pieces of log-
 * normal distributions), the last piece going on beyond p99. Between regions: the measured medians, constant.
 */
import type { SeededRandom } from "../../sim/seeded-random.ts";

/** Standard normal deviates of p50, p90 and p99 with the latencies in ms (S3 Standard, December 2025). */
const s3Get = [
  { deviate: 0, ms: 26.8 },
  { deviate: 1.2816, ms: 46.9 },
  { deviate: 2.3263, ms: 113 },
] as const;

/** Latency of one S3 read in ms, for a standard normal deviate. */
export function s3ReadMs(deviate: number): number {
  const [low, middle, high] = s3Get;
  const [from, to] = deviate < middle.deviate ? [low, middle] : [middle, high];
  const slope = Math.log(to.ms / from.ms) / (to.deviate - from.deviate);
  return from.ms * Math.exp(slope * (deviate - from.deviate));
}

/** A standard normal deviate (Box and Muller). */
export function normalDeviate(random: SeededRandom): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.unit()));
  return radius * Math.cos(2 * Math.PI * random.unit());
}

export const regions = ["us-east-1", "us-east-2", "us-west-2"] as const;
export type BenchRegion = (typeof regions)[number];

/** Median round trips in ms (cloudping.co), row = from. */
const roundTrips: Readonly<Record<BenchRegion, Readonly<Record<BenchRegion, number>>>> = {
  "us-east-1": { "us-east-1": 5.5, "us-east-2": 15.1, "us-west-2": 64.4 },
  "us-east-2": { "us-east-1": 16.5, "us-east-2": 5.4, "us-west-2": 51.2 },
  "us-west-2": { "us-east-1": 64.0, "us-east-2": 50.5, "us-west-2": 3.2 },
};

export function roundTripMs(from: BenchRegion, to: BenchRegion): number {
  return roundTrips[from][to];
}
