/**
 * How sure a score is: the reads are cut into blocks, blocks are drawn with replacement, the same ones for
 * every policy (paired), and the score is worked out anew.
 */
import { SeededRandom } from "../../sim/seeded-random.ts";

const BLOCKS = 60;
const DRAWS = 400;
const BIN_MS = 0.05;
const BINS = 20_000;

/** The score (none - ours) / (none - best) at a percentile. */
export function score(noneMs: number, oursMs: number, bestMs: number): number {
  return (noneMs - oursMs) / (noneMs - bestMs);
}

export interface Samples {
  readonly none: Float64Array;
  readonly ours: Float64Array;
  readonly best: Float64Array;
}

/** The interval that holds 95 % of the drawn scores. */
export function scoreInterval(samples: Samples, percentile: number): readonly [low: number, high: number] {
  const random = new SeededRandom(1, "bootstrap");
  const blocks = { none: tails(samples.none), ours: tails(samples.ours), best: tails(samples.best) };
  const scores = Array.from({ length: DRAWS }, () => {
    const drawn = Array.from({ length: BLOCKS }, () => random.integer(0, BLOCKS - 1));
    const at = (policy: Tails) => percentileOf(policy, drawn, percentile);
    return score(at(blocks.none), at(blocks.ours), at(blocks.best));
  }).sort((one, other) => one - other);
  return [scores[Math.floor(DRAWS * 0.025)] ?? 0, scores[Math.ceil(DRAWS * 0.975) - 1] ?? 0];
}

/** For each block the number of latencies in each bin and all bins above it. */
interface Tails {
  readonly blockSize: number;
  readonly above: readonly Uint32Array[];
}

function tails(latencyMs: Float64Array): Tails {
  const blockSize = Math.floor(latencyMs.length / BLOCKS);
  const above = Array.from({ length: BLOCKS }, (_, block) => {
    const bins = new Uint32Array(BINS + 1);
    for (const latency of latencyMs.subarray(block * blockSize, (block + 1) * blockSize)) {
      const bin = Math.min(BINS - 1, Math.floor(latency / BIN_MS));
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    for (let bin = BINS - 1; bin >= 0; bin--) bins[bin] = (bins[bin] ?? 0) + (bins[bin + 1] ?? 0);
    return bins;
  });
  return { blockSize, above };
}

/** The middle of the highest bin with more latencies in and above it than the percentile leaves out. */
function percentileOf({ blockSize, above }: Tails, drawn: readonly number[], percentile: number): number {
  const total = blockSize * drawn.length;
  const beyond = total - Math.ceil(percentile * total);
  let [low, high] = [0, BINS];
  while (high - low > 1) {
    const bin = (low + high) >> 1;
    const count = drawn.reduce((sum, block) => sum + (above[block]?.[bin] ?? 0), 0);
    if (count > beyond) low = bin;
    else high = bin;
  }
  return (low + 0.5) * BIN_MS;
}
