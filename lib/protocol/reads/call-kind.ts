/**
 * What is asked of a bookie. A tail lists and a recovery read writes: their latencies are pooled apart, and
 * count for a replica's health by how they compare to what their own kind usually takes.
 */
export type CallKind = "read" | "tail" | "recovery-read";
