/** Lines in batches: as many as an append takes, or fewer when no more lines come for a moment. */
import { interruptionOf } from "./interruption.ts";

interface BatchLimits {
  readonly recordsMax: number;
  /** Metered bytes: each record's bytes and `recordBytes`. A larger record makes a batch of its own. */
  readonly bytesMax: number;
  readonly recordBytes: number;
  /** Silence of the input after which a batch goes out as it is. */
  readonly lingerMs: number;
}

/** Throws what the groups throw, and InterruptedError when the signal says stop. */
export async function* batchesOf(
  groups: AsyncIterable<readonly Buffer[]>,
  limits: BatchLimits,
  signal: AbortSignal,
): AsyncGenerator<Buffer[]> {
  const source = groups[Symbol.asyncIterator]();
  let batch: Buffer[] = [];
  let bytes = 0;
  let coming = ahead(source);
  const taken = () => {
    if (signal.aborted) throw interruptionOf(signal);
    const filled = batch;
    [batch, bytes] = [[], 0];
    return filled;
  };
  for (;;) {
    const next = await arrival(coming, batch.length === 0 ? undefined : limits.lingerMs, signal);
    if (next === "silence") {
      yield taken();
      continue;
    }
    if (next.done === true) break;
    coming = ahead(source);
    for (const line of next.value) {
      const lineBytes = limits.recordBytes + line.length;
      const isFull = batch.length >= limits.recordsMax || bytes + lineBytes > limits.bytesMax;
      if (isFull && batch.length > 0) yield taken();
      batch.push(line);
      bytes += lineBytes;
    }
  }
  if (batch.length > 0) yield taken();
}

/** The next group, asked for early; its failure is met where it is awaited. */
function ahead<T>(source: AsyncIterator<T>): Promise<IteratorResult<T>> {
  const coming = source.next();
  coming.catch(() => {});
  return coming;
}

/** What comes next, unless the input stays silent for `lingerMs` or the signal says stop. */
async function arrival<T>(coming: Promise<T>, lingerMs: number | undefined, signal: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const otherwise = new Promise<"silence">((resolve, reject) => {
    stop = () => reject(interruptionOf(signal));
    if (lingerMs !== undefined) timer = setTimeout(() => resolve("silence"), lingerMs);
  });
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([coming, otherwise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
