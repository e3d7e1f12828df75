/** Every bound of the protocol, its unit and its reason. Their relations are asserted on load. */
import { assert } from "./assert.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Bytes that one entry may spend on producers: what append-limits.ts adds up, rounded up. */
const ENTRY_PRODUCERS_BYTES_MAX = 1_600_000;

export const limits = {
  // Records and batches
  /** Records in one atomic batch: keeps one entry's decoding short. */
  batchRecordsMax: 1_000,
  /** Metered bytes of one batch, and so of one record: 8 + 2 per header + header bytes + body. */
  batchBytesMax: MIB,
  recordHeadersMax: 64,
  recordHeaderBytesMax: 8 * KIB,
  logNameBytesMax: 512,
  /**
   * Bytes of an entry's payload: a full batch and the record set's own framing (at most 32 bytes a record, 16
   * a header), and what an entry says of producers.
   */
  entryPayloadBytesMax: MIB + 1_000 * (32 + 64 * 16) + ENTRY_PRODUCERS_BYTES_MAX + 64,
  /** Of it, what may be said of producers. */
  entryProducersBytesMax: ENTRY_PRODUCERS_BYTES_MAX,

  // Ledger writer
  /** Adds of one writer that are not yet acknowledged: bounds memory and what recovery must read. */
  pendingAddsMax: 256,
  /** Payload bytes of those adds. */
  pendingBytesMax: 32 * MIB,
  /**
   * Fragments of one ledger, after which the log rolls: bounds the metadata item (rule 6; DynamoDB items hold
   * 400 KB).
   */
  fragmentsMax: 64,
  /**
   * Wait for one bookie's answer to one attempt. Longer than a slow object store put, shorter than a caller's
   * patience.
   */
  bookieCallTimeoutMs: 1_500,
  /**
   * Attempts of one idempotent bookie call before its outcome counts as unknown: one lost message is not a
   * failure.
   */
  bookieCallAttempts: 2,
  /** Pause between attempts. */
  bookieCallPauseMs: 40,

  // Recovery
  /** Entries that recovery reads at a time (rule 11). */
  recoveryReadWindow: 16,
  /** Entries in the first window, which doubles from there. */
  recoveryReadWindowFirst: 4,
  /**
   * How much longer than the first copy of an entry the others may take to be written back before more
   * bookies are asked: longer than a slow put on the other side of the world.
   */
  writeBackPatienceMs: 400,
  /** Keys listed to find a bookie's highest entry behind Tombstones that recovery put ahead. */
  highestEntryScanKeys: 64,

  // Reads
  /** Silence after which the next replica is asked as well. */
  readNextReplicaAfterMs: 200,
  /** Rounds of rule 14 before the tail counts as undecidable. */
  tailRoundsMax: 4,
  /** A bookie that failed is chosen last for this long, unless it answers before. */
  suspectMs: 10_000,
  /** Records in one answer. */
  readRecordsMax: 1_000,
  /** Metered bytes in one answer. */
  readBytesMax: MIB,
  /** Logs in one page of the list. */
  listLogsMax: 1_000,

  // Metadata
  /** Wait for one metadata call. */
  metadataCallTimeoutMs: 3_000,
  /**
   * Rounds of one read-change-write loop before it gives up: each lost round means that a rival got ahead.
   */
  updateRoundsMax: 16,

  /** Age from which a process's copy of the registry is read anew, beside the requests. */
  registryRefreshMs: 5_000,
  /** Age from which a request waits for a newer copy. */
  registryAgeMaxMs: 10_000,
  /** Wait for that: after it the request goes on with the old copy, which is as safe. */
  registryWaitMs: 1_000,

  // Collection and freshness (rule 15)
  /** How long fence and seal of a DELETED ledger are kept. */
  sealAgeMs: 30 * DAY_MS,
  sealAgeMinMs: 2 * DAY_MS,
  /**
   * A process whose last consistent metadata read is older acknowledges and answers nothing: a quarter of the
   * least seal age allowed, and so of any.
   */
  metadataAgeMaxMs: (2 * DAY_MS) / 4,
  /** Age of a storage identity check that a tail read may trust (rule 21). */
  identityCheckAgeMaxMs: MINUTE_MS,

  // Log
  /** Payload bytes after which a segment is rolled, unless the log's configuration says otherwise. */
  segmentBytesMaxDefault: 256 * MIB,
  /**
   * Age after which one is rolled, unless the log's configuration says otherwise: what is retained by age
   * goes by whole segments.
   */
  segmentAgeMaxMsDefault: 120 * MINUTE_MS,
  /** Times that an append starts again after losing an election or being fenced with nothing recorded. */
  appendRestartsMax: 8,
  /** How long an append may take before it answers with what is known. */
  appendDeadlineMs: 20_000,
  /**
   * How far a record's timestamp may run ahead of the server's clock: one wrong client clock holds back the
   * whole log for no longer.
   */
  timestampAheadMaxMs: MINUTE_MS,
  /**
   * Appends of one log that wait in one process for their turn, and their metered bytes: beyond it is over
   * capacity.
   */
  waitingAppendsMax: 10_000,
  waitingBytesMax: 64 * MIB,
  /**
   * Pause before the first restart; it doubles up to the longest, and a random part of it is taken. Two
   * writers in turn must not fence each other for ever.
   */
  restartPauseMs: 40,
  restartPauseMsMax: 1_000,
  /**
   * Wait for a segment to be opened: recovery of the last one and five metadata calls, some of them repeated.
   */
  segmentOpenTimeoutMs: 15_000,
  /** Tries to open a segment before the waiting appends are refused. */
  segmentOpenAttempts: 2,
  /** Tries to find out what became of appends in doubt before they are answered with unknown_outcome. */
  decideAttempts: 3,

  // Writer lease (rules 16 to 20)
  /**
   * How long a lease lasts without renewal. After its holder died the next one waits for it, then recovers:
   * 2 s for the lease, a poll, and a recovery of one to two seconds stay under five.
   */
  leaseTtlMs: 2_000,
  /**
   * How far ahead of this clock a lease may expire beyond that and still count: two clocks of one region
   * differ by less. An expiry further ahead counts as expired.
   */
  leaseSkewMaxMs: 1_000,
  /** A holder renews on use once less than this is left: a busy one writes its lease once a second. */
  leaseRenewAheadMs: 1_000,
  /**
   * Wait for one lease call: a conditional write in one's own region takes milliseconds, a synced one on a
   * laptop's busy disk takes longer.
   */
  leaseCallTimeoutMs: 1_000,
  /** Pause between two looks at a lease that another holds; a random part of as much again is added. */
  leasePollMs: 20,
  /** Pause of one who yielded before it asks again: longer than the longest pause between two looks. */
  leaseYieldMs: 60,
  /** Wait for the lease before the append is answered not_ready: a dead holder's time and a few hand-offs. */
  leaseWaitMs: 4_000,
  /** Rounds of one renewal or release: each lost round means that somebody asked for the lease meanwhile. */
  leaseRoundsMax: 4,

  // Owners of logs, and takeovers
  /** A region that answered within this time is sent appends without being asked first. */
  ownerHeardMs: 2_000,
  /** Wait for a region to say whether it can own: a round trip around the world and a slow start. */
  ownerAskTimeoutMs: 700,
  /** A forwarded append that takes longer makes its sender ask whether the owner lives. */
  ownerWatchMs: 350,
  /**
   * Failures without an answer between them, and the time from the first to now, after which a log may be
   * taken over from its region: three waits, so that detection takes two to three seconds.
   */
  ownerFailuresMin: 3,
  ownerSilenceMs: 1_000,
  /** Failures further apart than this are not of one outage. */
  ownerFailureGapMaxMs: 5_000,
  /** How long an owner is left alone after it was first seen as owner, on the observer's clock. */
  ownerGuardMs: 1_000,
  /**
   * By what that grows with each takeover that found the owner alive, and up to what: a region that does not
   * hear the owner, while others do, fences it in vain once a minute at most.
   */
  ownerGuardGrowth: 4,
  ownerGuardMsMax: MINUTE_MS,
  /** Pause before an owner that did not answer is tried again; a random part of as much again is added. */
  ownerRetryPauseMs: 100,
  /** Time kept back of a caller's patience when its append is forwarded, for the way back. */
  forwardMarginMs: 500,

  /** Logs whose open segment one process keeps. */
  warmWritersMax: 1_000,
  /** Logs whose name and configuration one process remembers. */
  knownLogsMax: 10_000,
  /** Ledgers of which one process remembers a reader and where some seq_nums are. */
  knownLedgersMax: 1_000,
  /** Places remembered of one ledger. */
  entrySamplesMax: 512,
  /** Entries that a read fetches ahead of the one it looks at, and payload bytes, as far as it knows. */
  readAheadEntries: 16,
  readAheadBytesMax: 4 * MIB,
  /**
   * Times that a read begins again because the segments changed under it, and that it asks for the tail to be
   * settled.
   */
  readRestartsMax: 8,
  settleRoundsMax: 2,
  /** Segments that an audit or a pass of a deletion removes at a time: each is some metadata calls. */
  removalsAtOnce: 16,
  /** Segments that one such pass removes: it has an end, and what is left is the next one's. */
  removalsMax: 1_000,
} as const;

assert(limits.batchBytesMax < limits.entryPayloadBytesMax, "a full batch fits an entry");
assert(limits.entryPayloadBytesMax * 4 < 3 * 6 * MIB, "an entry in base 64 fits a Lambda payload of 6 MB");
assert(limits.entryPayloadBytesMax <= limits.pendingBytesMax, "one entry fits the writer's window");
assert(
  limits.recoveryReadWindow < limits.highestEntryScanKeys,
  "Tombstones put ahead by recovery do not hide the highest entry",
);
assert(limits.sealAgeMs >= limits.sealAgeMinMs, "the seal age is never under two days");
assert(limits.metadataAgeMaxMs * 4 <= limits.sealAgeMinMs, "rule 15: a quarter of the seal age");
assert(
  limits.bookieCallTimeoutMs * limits.bookieCallAttempts < limits.appendDeadlineMs,
  "an append outlives its calls",
);
assert(
  limits.leaseWaitMs + limits.segmentOpenTimeoutMs < limits.appendDeadlineMs,
  "an append outlives one wait for the lease and one opening of a segment",
);
assert(limits.leaseRenewAheadMs < limits.leaseTtlMs, "a lease is not renewed as soon as it is written");
assert(limits.leaseYieldMs > 2 * limits.leasePollMs, "who yields does not take the lease back at once");
assert(
  limits.leaseTtlMs + 2 * limits.leaseCallTimeoutMs <= limits.leaseWaitMs,
  "a waiter outlives a dead holder's lease and the calls around it",
);
assert(
  limits.ownerFailuresMin * (limits.ownerAskTimeoutMs + 2 * limits.ownerRetryPauseMs) + limits.leaseWaitMs <
    limits.appendDeadlineMs / 2,
  "an append outlives the detection of a silent owner",
);
assert(limits.batchBytesMax <= limits.waitingBytesMax, "one batch may wait");
assert(limits.identityCheckAgeMaxMs <= MINUTE_MS, "rule 21: under a minute");
