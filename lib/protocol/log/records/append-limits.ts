/** Bounds of idempotent appends and of group commit, each with its unit and its reason. */
import { assert } from "../../assert.ts";
import { limits } from "../../limits.ts";

export const appendLimits = {
  // Senders: producers, and idempotency keys
  /** Characters of a sender's id: a UUID and then some, and what marks it as made of a key. */
  senderIdLengthMax: 68,
  /** Producers and keys that one log remembers: what fits a snapshot. */
  producersMax: 4_096,
  /**
   * How long after its last append a producer, or a key, is surely remembered: longer than any caller goes on
   * trying. Beyond it one is forgotten to make room.
   */
  producerWindowMs: 5 * 60_000,
  /**
   * After which it is forgotten in any case: what is not needed any more is not written again and again. A
   * day, since one process's clock may be hours ahead, and must not make the log forget what is young.
   */
  producerKeepMs: 24 * 60 * 60_000,
  /** Last batches of each producer whose positions are remembered, and so how many it may have in flight. */
  producerBatchesMax: 5,
  /** Entries after which a snapshot of the producers is due: bounds what a new writer reads. */
  producerSnapshotEntries: 64,

  // Group commit
  /**
   * Entries in flight beyond which appends wait to share the next one, unless those that wait fill an entry:
   * each entry is a put in every bookie, and waiting for a quarter of a round trip saves most of them.
   */
  groupEntriesInFlight: 4,
} as const;

/** Bytes that a producer with the longest id takes in a snapshot, as producer-snapshot.ts writes it. */
const SNAPSHOT_BYTES = 86 + appendLimits.producerBatchesMax * 56;
const SNAPSHOT_HEAD_BYTES = 13;
/** Bytes that a batch and its sender take in its entry, as record-set.ts writes it. */
const BATCH_BYTES = 100;
const BATCHES_MAX = 1_000;

/** Bytes that one entry may spend on producers: a snapshot of all, and one in each of its batches. */
export const PRODUCERS_BYTES_MAX =
  SNAPSHOT_HEAD_BYTES + appendLimits.producersMax * SNAPSHOT_BYTES + BATCHES_MAX * BATCH_BYTES;

assert(PRODUCERS_BYTES_MAX <= limits.entryProducersBytesMax, "what is said of producers fits an entry");
assert(appendLimits.groupEntriesInFlight >= 1, "an append is sent at once while nothing is in flight");
assert(appendLimits.producerWindowMs < appendLimits.producerKeepMs, "the window is kept");
assert(appendLimits.producerBatchesMax >= 1, "the last batch of a producer is remembered");
