/** What fits into one append, for callers who make up batches themselves. */
import { limits } from "../protocol/limits.ts";

export const batchLimits = {
  recordsMax: limits.batchRecordsMax,
  /** Metered bytes of a batch, and of a record. */
  bytesMax: limits.batchBytesMax,
  /** Metered bytes of a record without headers, beside its body. */
  recordBytes: 8,
} as const;
