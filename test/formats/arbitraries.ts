/** Arbitrary entries, items and leases, for properties of the formats. */
import fc from "fast-check";
import {
  bookieId,
  entryId,
  leaseBirth,
  ledgerId,
  logIncarnation,
  logName,
  region,
  segmentNumber,
  seqNum,
  tenure,
  writeToken,
} from "../../lib/protocol/ids.ts";
import type { Item, LogConfig, SegmentCompletion, Version } from "../../lib/protocol/items.ts";
import type { Lease, LedgerTail, OwnerFailures } from "../../lib/protocol/lease.ts";
import type { LedgerMetadata, LedgerOrigin } from "../../lib/protocol/ledger-metadata.ts";
import type { SealedEntry, StoreKey, StoreValue } from "../../lib/protocol/ports.ts";
import type { BookieAddress, LedgerDigest, Replication } from "../../lib/protocol/replication.ts";

/** Up to 2^53 - 1, the ends and the neighbourhood of 2^32 included. */
const natural = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(1_000),
  fc.constantFrom(0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1),
);
const text = fc.string({ unit: "binary" });
const timeMs = fc.oneof(natural, fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }));
const bytes = fc.uint8Array({ maxLength: 200 });

export const anyLedgerId = natural.map(ledgerId);
export const anyEntryId = natural.map(entryId);
const anyLastEntry = fc.oneof(fc.constant(entryId(-1)), anyEntryId);
const anySeqNum = natural.map(seqNum);
const anyRegion = text.map(region);
const anyBookieId = text.map(bookieId);
const anyLog = text.map(logIncarnation);

export const anyEntry: fc.Arbitrary<SealedEntry> = fc.record({
  header: fc.record({
    ledgerId: anyLedgerId,
    entryId: anyEntryId,
    lastAddConfirmed: anyLastEntry,
    length: natural,
    tenure: text.map(tenure),
  }),
  payload: bytes,
  digest: fc.uint8Array({ maxLength: 64 }),
});

export const anyStoreValue: fc.Arbitrary<StoreValue> = fc.oneof(
  fc.record({ kind: fc.constant("incarnation" as const), storage: text }),
  fc.constant({ kind: "fence" } as const),
  fc.constant({ kind: "tombstone" } as const),
  fc.record({ kind: fc.constantFrom("original", "recovered"), entry: anyEntry }),
);

export const anyStoreKey: fc.Arbitrary<StoreKey> = fc.oneof(
  fc.constant({ kind: "incarnation" } as const),
  fc.record({ kind: fc.constant("fence" as const), ledgerId: anyLedgerId }),
  fc.record({ kind: fc.constant("slot" as const), ledgerId: anyLedgerId, entryId: anyEntryId }),
);

export const anyVersion: fc.Arbitrary<Version> = fc.record({
  revision: natural.map((value) => Math.max(1, value)),
  token: text.map(writeToken),
});

/** 1 <= minRegions <= ackQuorum <= writeQuorum <= ensembleSize <= 6. */
const anyReplication: fc.Arbitrary<Replication> = fc
  .array(fc.integer({ min: 1, max: 6 }), { minLength: 4, maxLength: 4 })
  .map((sizes) => {
    const [minRegions = 1, ackQuorum = 1, writeQuorum = 1, ensembleSize = 1] = sizes.sort();
    return { ensembleSize, writeQuorum, ackQuorum, minRegions };
  });

const anyAddress: fc.Arbitrary<BookieAddress> = fc.record({
  id: anyBookieId,
  place: fc.record({ region: anyRegion, rack: text }),
});

const anyDigest: fc.Arbitrary<LedgerDigest> = fc.oneof(
  fc.constant({ type: "crc32" } as const),
  fc.record({ type: fc.constant("hmac-sha256" as const), keyHex: text }),
);

const anyOrigin: fc.Arbitrary<LedgerOrigin> = fc.record({
  log: anyLog,
  firstSeqNum: anySeqNum,
  ownerRegion: anyRegion,
});

function anyFragments(replication: Replication) {
  const size = { minLength: replication.ensembleSize, maxLength: replication.ensembleSize };
  return fc
    .tuple(
      fc.uniqueArray(
        natural.filter((first) => first > 0),
        { maxLength: 4 },
      ),
      fc.array(fc.array(anyAddress, size), { minLength: 5, maxLength: 5 }),
    )
    .map(([later, ensembles]) =>
      [0, ...later.sort((one, other) => one - other)].map((first, index) => ({
        firstEntry: entryId(first),
        ensemble: ensembles[index] ?? [],
      })),
    );
}

const anyLedger: fc.Arbitrary<LedgerMetadata> = anyReplication.chain((replication) =>
  fc
    .record({
      base: fc.record(
        {
          kind: fc.constant("ledger" as const),
          ledgerId: anyLedgerId,
          replication: fc.constant(replication),
          digest: anyDigest,
          fragments: anyFragments(replication),
          retired: fc.array(anyBookieId, { maxLength: 3 }),
          createdAtMs: timeMs,
          origin: anyOrigin,
        },
        {
          requiredKeys: ["kind", "ledgerId", "replication", "digest", "fragments", "retired", "createdAtMs"],
        },
      ),
      end: fc.record({ lastEntry: anyLastEntry, length: natural }),
      state: fc.constantFrom("OPEN", "IN_RECOVERY", "CLOSED", "DELETED"),
      deletedAtMs: timeMs,
    })
    .map(({ base, end, state, deletedAtMs }): LedgerMetadata => {
      if (state === "OPEN" || state === "IN_RECOVERY") return { ...base, state };
      return state === "CLOSED" ? { ...base, ...end, state } : { ...base, ...end, state, deletedAtMs };
    }),
);

const positive = natural.map((value) => Math.max(1, value));
const anyConfig: fc.Arbitrary<LogConfig> = fc.record(
  {
    replication: anyReplication,
    digest: fc.constantFrom("crc32", "hmac-sha256"),
    segmentBytesMax: positive,
    segmentAgeMaxMs: positive,
  },
  { requiredKeys: ["replication", "digest", "segmentBytesMax"] },
);

const anyCompletion: fc.Arbitrary<SegmentCompletion> = fc.record({
  end: anySeqNum,
  lastEntry: anyLastEntry,
  lastTimestampMs: timeMs,
  bytes: natural,
});

const anySegmentNumber = natural.map((value) => segmentNumber(Math.max(1, value)));

export const anyItem: fc.Arbitrary<Item> = fc.oneof(
  anyLedger,
  fc.record({ kind: fc.constant("log-name" as const), name: text.map(logName), incarnation: anyLog }),
  fc.record(
    {
      kind: fc.constant("log" as const),
      name: text.map(logName),
      incarnation: anyLog,
      config: anyConfig,
      state: fc.constantFrom("active", "deleting"),
      trimPoint: anySeqNum,
      createdAtMs: timeMs,
      preferredRegion: anyRegion,
    },
    { requiredKeys: ["kind", "name", "incarnation", "config", "state", "trimPoint", "createdAtMs"] },
  ),
  fc.record(
    {
      kind: fc.constant("segment" as const),
      number: anySegmentNumber,
      ledgerId: anyLedgerId,
      ownerRegion: anyRegion,
      createdAtMs: timeMs,
      completion: anyCompletion,
    },
    { requiredKeys: ["kind", "number", "ledgerId", "ownerRegion", "createdAtMs"] },
  ),
  fc.record({ kind: fc.constant("end" as const), number: anySegmentNumber }),
  fc.record({ kind: fc.constant("directory" as const), name: text.map(logName) }),
  fc.record(
    {
      kind: fc.constant("ledger-listing" as const),
      ledgerId: anyLedgerId,
      region: anyRegion,
      createdAtMs: timeMs,
      sweptAtMs: timeMs,
    },
    { requiredKeys: ["kind", "ledgerId", "region", "createdAtMs"] },
  ),
  fc.record(
    {
      kind: fc.constant("deployment" as const),
      metadataMode: fc.constantFrom("strong", "home"),
      homeRegion: anyRegion,
    },
    { requiredKeys: ["kind", "metadataMode"] },
  ),
  fc.record({
    kind: fc.constant("region" as const),
    region: anyRegion,
    state: fc.constantFrom("accepting", "draining", "lost"),
  }),
  fc.record({
    kind: fc.constant("bookie" as const),
    address: anyAddress,
    state: fc.constantFrom("writable", "read-only", "lost"),
  }),
);

const anyLedgerTail: fc.Arbitrary<LedgerTail> = fc.record(
  {
    ledgerId: anyLedgerId,
    ledgerVersion: anyVersion,
    lastAddConfirmed: anyLastEntry,
    nextSeqNum: anySeqNum,
    lastTimestampMs: timeMs,
    ledgerBytes: natural,
    producersAt: anyEntryId,
  },
  {
    requiredKeys: [
      "ledgerId",
      "ledgerVersion",
      "lastAddConfirmed",
      "nextSeqNum",
      "lastTimestampMs",
      "ledgerBytes",
    ],
  },
);

export const anyLease: fc.Arbitrary<Lease> = fc.record(
  {
    birth: text.map(leaseBirth),
    tenure: text.map(tenure),
    holder: text,
    expiresAtMs: timeMs,
    clean: fc.boolean(),
    wanted: fc.boolean(),
    tail: anyLedgerTail,
    suspects: fc.array(anyBookieId, { maxLength: 3 }),
    contest: fc.record({ region: anyRegion, times: natural, aloneUntilMs: timeMs }),
    owed: fc.array(fc.record({ tenure: text.map(tenure), ledgerId: anyLedgerId, keptAtMs: timeMs }), {
      maxLength: 3,
    }),
    floor: natural,
  },
  { requiredKeys: ["tenure", "holder", "expiresAtMs", "clean", "wanted", "suspects", "owed"] },
);

export const anyOwnerFailures: fc.Arbitrary<OwnerFailures> = fc.record({
  failures: fc.array(text.map(writeToken), { maxLength: 3 }),
  firstAtMs: timeMs,
  lastAtMs: timeMs,
});
