/**
 * An entry store that takes as long as an object store: quantiles as published for S3 Standard, joined by
 * log-normal pieces. What is stored and answered is left as it is.
 */
import type { Clock } from "../protocol/deadline.ts";
import type { EntryStore } from "../protocol/ports.ts";
import type { Random } from "../protocol/random.ts";
import { type CallSignal, pause } from "../protocol/waiting.ts";

interface Quantile {
  /** Of the standard normal distribution. */
  readonly deviate: number;
  readonly ms: number;
}

/** p50, p90 and p99 of small random reads; the last piece goes on beyond p99. */
const READ: readonly Quantile[] = [
  { deviate: 0, ms: 26.8 },
  { deviate: 1.2816, ms: 46.9 },
  { deviate: 2.3263, ms: 113 },
];

/** p50 of conditional puts, and their p99 at a sigma of 0.14. */
const WRITE: readonly Quantile[] = [
  { deviate: 0, ms: 60.8 },
  { deviate: 2.3263, ms: 84.2 },
];

export function asSlowAsObjects(store: EntryStore, ports: { clock: Clock; random: Random }): EntryStore {
  const { clock, random } = ports;
  const wait = (quantiles: readonly Quantile[], signal?: CallSignal) =>
    pause(clock, latencyMs(quantiles, normalDeviate(random)), signal);
  const after = async <T>(quantiles: readonly Quantile[], call: () => Promise<T>): Promise<T> => {
    await wait(quantiles);
    return await call();
  };
  return {
    get: async (key, signal) => {
      await wait(READ, signal);
      return await store.get(key, signal);
    },
    list: (request) => after(READ, () => store.list(request)),
    putIfAbsent: (key, value) => after(WRITE, () => store.putIfAbsent(key, value)),
    put: (key, value) => after(WRITE, () => store.put(key, value)),
    delete: (key) => after(WRITE, () => store.delete(key)),
  };
}

/** Latency in ms at a standard normal deviate: straight lines of its logarithm between the quantiles. */
function latencyMs(quantiles: readonly Quantile[], deviate: number): number {
  const last = quantiles.length - 2;
  const piece = quantiles.findIndex(
    (_, index) => index === last || deviate < (quantiles[index + 1]?.deviate ?? 0),
  );
  const [from, to] = [quantiles[piece], quantiles[piece + 1]];
  if (from === undefined || to === undefined) return from?.ms ?? 0;
  const slope = Math.log(to.ms / from.ms) / (to.deviate - from.deviate);
  return from.ms * Math.exp(slope * (deviate - from.deviate));
}

/** Box and Muller. */
function normalDeviate(random: Random): number {
  const unit = () => (random.uint32() + 0.5) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}
