/** Answers of the log in their wire form. */
import type { LogConfig } from "../protocol/items.ts";
import type { LedgerMetadata } from "../protocol/ledger-metadata.ts";
import type {
  AppendAck,
  LogDescription,
  ReadAnswer,
  SegmentDescription,
  TailAnswer,
} from "../protocol/log/operations.ts";
import { formatDlsn, type LogRecord, type RecordPosition } from "../protocol/log/records/record.ts";
import { wireNumbers } from "../protocol/log-config.ts";
import type { BookieDescription, RegionDescription } from "../protocol/placement/registry.ts";
import type { Replication } from "../protocol/replication.ts";
import type { AppendAckJson } from "./append-wire.ts";
import { type LogFormat, textOf } from "./record-body.ts";
import type * as regionWire from "./region-wire.ts";
import type { Wire } from "./schema.ts";
import { withWireNames } from "./size-names.ts";
import type * as wire from "./wire.ts";

export function ackAnswer(log: string, ack: AppendAck): AppendAckJson {
  return {
    log,
    start: positionOf(ack.start),
    last: positionOf(ack.last),
    end: ack.last.seqNum + 1,
    tail: ack.tail,
    ...(ack.durableIn === undefined ? {} : { durable_in: [...ack.durableIn] }),
    duplicate: ack.duplicate,
    epoch: ack.epoch,
  };
}

export function readAnswer(answer: ReadAnswer, format: LogFormat): Wire<typeof wire.readAnswer> {
  return {
    records: answer.records.map((record) => recordAnswer(record, format)),
    next: answer.next,
    tail: answer.tail,
    up_to_date: answer.upToDate,
    sealed: answer.sealed,
  };
}

export function tailAnswer(answer: TailAnswer): Wire<typeof wire.tailAnswer> {
  return {
    tail: answer.tail,
    up_to_date: answer.upToDate,
    sealed: answer.sealed,
    ...(answer.ownerRegion === undefined ? {} : { owner: answer.ownerRegion }),
  };
}

export function logAnswer(description: LogDescription): Wire<typeof wire.logDescription> {
  return {
    log: description.name,
    incarnation: description.incarnation,
    state: description.state,
    config: configAnswer(description.config),
    first_seq_num: description.trimPoint,
    created_at: description.createdAtMs,
    ...(description.preferredRegion === undefined ? {} : { preferred_region: description.preferredRegion }),
  };
}

export function createdAnswer(
  description: LogDescription,
  warnings: readonly string[],
): Wire<typeof wire.createdLog> {
  return { ...logAnswer(description), warnings: warnings.map(withWireNames) };
}

export function regionAnswer({
  region,
  state,
  bookies,
}: RegionDescription): Wire<typeof regionWire.regionDescription> {
  return { region, state, bookies: bookies.map(bookieAnswer) };
}

export function bookieAnswer({
  id,
  place,
  state,
}: BookieDescription): Wire<typeof regionWire.bookieDescription> {
  return { bookie: id, region: place.region, rack: place.rack, state };
}

export function segmentAnswer(
  segment: SegmentDescription,
): Wire<typeof wire.segmentList>["segments"][number] {
  const { completion } = segment;
  return {
    number: segment.number,
    first_seq_num: segment.firstSeqNum,
    ledger_id: segment.ledgerId,
    owner: segment.ownerRegion,
    created_at: segment.createdAtMs,
    ...(completion === undefined
      ? {}
      : {
          end: completion.end,
          last_entry: completion.lastEntry,
          last_timestamp: completion.lastTimestampMs,
          bytes: completion.bytes,
        }),
  };
}

/** Everything but the digest's key. */
export function ledgerAnswer(ledger: LedgerMetadata): Wire<typeof wire.ledgerDescription> {
  const ended = ledger.state === "CLOSED" || ledger.state === "DELETED";
  return {
    ledger_id: ledger.ledgerId,
    state: ledger.state,
    replication: replicationAnswer(ledger.replication),
    digest: ledger.digest.type,
    fragments: ledger.fragments.map((fragment) => ({
      first_entry: fragment.firstEntry,
      ensemble: fragment.ensemble.map(({ id, place }) => ({ bookie: id, ...place })),
    })),
    retired: [...ledger.retired],
    ...(ended ? { last_entry: ledger.lastEntry, length: ledger.length } : {}),
    ...(ledger.origin === undefined
      ? {}
      : {
          origin: {
            incarnation: ledger.origin.log,
            first_seq_num: ledger.origin.firstSeqNum,
            owner: ledger.origin.ownerRegion,
          },
        }),
    created_at: ledger.createdAtMs,
    ...(ledger.state === "DELETED" ? { deleted_at: ledger.deletedAtMs } : {}),
  };
}

function recordAnswer(record: LogRecord, format: LogFormat): Wire<typeof wire.logRecord> {
  const text = (bytes: Uint8Array) => textOf(bytes, format, record.seqNum);
  return {
    ...positionOf(record),
    headers: record.headers.map(([name, value]): [string, string] => [text(name), text(value)]),
    body: text(record.body),
  };
}

function positionOf(position: RecordPosition) {
  return { seq_num: position.seqNum, dlsn: formatDlsn(position.dlsn), timestamp: position.timestampMs };
}

function configAnswer(config: LogConfig) {
  return {
    replication: replicationAnswer(config.replication),
    digest: config.digest,
    ...wireNumbers(config),
  };
}

function replicationAnswer(replication: Replication): Wire<typeof wire.replication> {
  return {
    ensemble_size: replication.ensembleSize,
    write_quorum: replication.writeQuorum,
    ack_quorum: replication.ackQuorum,
    min_regions: replication.minRegions,
  };
}
