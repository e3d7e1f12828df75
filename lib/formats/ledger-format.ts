/** Plain JSON of a ledger's metadata. The shape is checked on the way in: LM2, LM3 and the quorum sizes. */
import { bookieId, entryId, ledgerId, logIncarnation, NO_ENTRY, region, seqNum } from "../protocol/ids.ts";
import { checkReplication, type LedgerMetadata, type LedgerOrigin } from "../protocol/ledger-metadata.ts";
import type { BookieAddress, Fragment, LedgerDigest, Replication } from "../protocol/replication.ts";
import type { ItemCodec } from "./item-codec.ts";
import type { JsonFields, JsonObject } from "./json-fields.ts";

export const ledgerCodec: ItemCodec<LedgerMetadata> = { format: 1, encode, decode };

function encode(ledger: LedgerMetadata): JsonObject {
  return {
    ledgerId: ledger.ledgerId,
    state: ledger.state,
    replication: encodeReplication(ledger.replication),
    digest:
      ledger.digest.type === "crc32"
        ? { type: ledger.digest.type }
        : { type: ledger.digest.type, keyHex: ledger.digest.keyHex },
    fragments: ledger.fragments.map(encodeFragment),
    retired: [...ledger.retired],
    createdAtMs: ledger.createdAtMs,
    ...(ledger.origin === undefined ? {} : { origin: encodeOrigin(ledger.origin) }),
    ...encodeEnd(ledger),
  };
}

function decode(fields: JsonFields): LedgerMetadata {
  const replication = fields.object("replication", decodeReplication);
  const fragments = fields.list("fragments", decodeFragment);
  const state = fields.oneOf("state", ["OPEN", "IN_RECOVERY", "CLOSED", "DELETED"]);
  const base = {
    kind: "ledger",
    ledgerId: ledgerId(fields.integer("ledgerId", 0)),
    replication,
    digest: fields.object("digest", decodeDigest),
    fragments,
    retired: fields.textList("retired").map(bookieId),
    createdAtMs: fields.number("createdAtMs"),
    ...(fields.has("origin") ? { origin: fields.object("origin", decodeOrigin) } : {}),
  } as const;
  checkFragments(fields, fragments, replication);
  if (state === "OPEN" || state === "IN_RECOVERY") return { ...base, state };
  const end = {
    lastEntry: entryId(fields.integer("lastEntry", NO_ENTRY)),
    length: fields.integer("length", 0),
  };
  if (state === "CLOSED") return { ...base, state, ...end };
  return { ...base, state, ...end, deletedAtMs: fields.number("deletedAtMs") };
}

function encodeEnd(ledger: LedgerMetadata): JsonObject {
  switch (ledger.state) {
    case "OPEN":
    case "IN_RECOVERY":
      return {};
    case "CLOSED":
      return { lastEntry: ledger.lastEntry, length: ledger.length };
    case "DELETED":
      return { lastEntry: ledger.lastEntry, length: ledger.length, deletedAtMs: ledger.deletedAtMs };
  }
}

export function encodeReplication(replication: Replication): JsonObject {
  return {
    ensembleSize: replication.ensembleSize,
    writeQuorum: replication.writeQuorum,
    ackQuorum: replication.ackQuorum,
    minRegions: replication.minRegions,
  };
}

export function decodeReplication(fields: JsonFields): Replication {
  const replication = {
    ensembleSize: fields.integer("ensembleSize", 1),
    writeQuorum: fields.integer("writeQuorum", 1),
    ackQuorum: fields.integer("ackQuorum", 1),
    minRegions: fields.integer("minRegions", 1),
  };
  checkReplication(replication);
  return replication;
}

function decodeDigest(fields: JsonFields): LedgerDigest {
  const type = fields.oneOf("type", ["crc32", "hmac-sha256"]);
  return type === "crc32" ? { type } : { type, keyHex: fields.text("keyHex") };
}

function encodeFragment(fragment: Fragment): JsonObject {
  return { firstEntry: fragment.firstEntry, ensemble: fragment.ensemble.map(encodeAddress) };
}

function decodeFragment(fields: JsonFields): Fragment {
  return {
    firstEntry: entryId(fields.integer("firstEntry", 0)),
    ensemble: fields.list("ensemble", decodeAddress),
  };
}

export function encodeAddress(address: BookieAddress): JsonObject {
  return { id: address.id, region: address.place.region, rack: address.place.rack };
}

export function decodeAddress(fields: JsonFields): BookieAddress {
  return {
    id: bookieId(fields.text("id")),
    place: { region: region(fields.text("region")), rack: fields.text("rack") },
  };
}

function encodeOrigin(origin: LedgerOrigin): JsonObject {
  return { log: origin.log, firstSeqNum: origin.firstSeqNum, ownerRegion: origin.ownerRegion };
}

function decodeOrigin(fields: JsonFields): LedgerOrigin {
  return {
    log: logIncarnation(fields.text("log")),
    firstSeqNum: seqNum(fields.integer("firstSeqNum", 0)),
    ownerRegion: region(fields.text("ownerRegion")),
  };
}

/** LM2, and as many members in each ensemble as the replication says. */
function checkFragments(fields: JsonFields, fragments: readonly Fragment[], replication: Replication): void {
  if (fragments[0]?.firstEntry !== 0) fields.fail("its first fragment does not start at entry 0");
  let before = NO_ENTRY;
  for (const { firstEntry, ensemble } of fragments) {
    if (firstEntry <= before) fields.fail(`fragment ${firstEntry} does not follow ${before}`);
    if (ensemble.length !== replication.ensembleSize) {
      fields.fail(`fragment ${firstEntry} has ${ensemble.length} bookies, not ${replication.ensembleSize}`);
    }
    before = firstEntry;
  }
}
