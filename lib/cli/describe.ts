/** Logs and ledgers in words for people. */
import type { LedgerJson, LogJson, SegmentListJson, TailJson } from "../api/wire.ts";

export function logText(log: LogJson, tail: TailJson, { segments }: SegmentListJson): string {
  const { replication } = log.config;
  const bound = tail.up_to_date ? "" : " or higher: bookies of the tail are silent";
  const sealed = tail.sealed ? ", where the log was sealed" : "";
  const state = tail.sealed ? "sealed" : log.state;
  const last = segments.at(-1)?.owner;
  return [
    `log           ${log.log}`,
    `incarnation   ${log.incarnation}, ${state}, created ${timeText(log.created_at)}`,
    `records       seq_num ${log.first_seq_num} up to ${tail.tail}${bound}${sealed}`,
    `owner         ${tail.owner ?? (tail.sealed ? noOwnerWords(last) : "none yet: nothing was appended")}`,
    `prefers       ${log.preferred_region ?? "no region"}`,
    `replication   ${replicationText(replication)}`,
    `digest        ${log.config.digest}`,
    `segments      ${segments.length}, each an epoch of one writer; rolled at ` +
      `${log.config.segment_bytes_max} bytes or ${log.config.segment_age_max_ms / 1_000} s`,
    ...segments.map(segmentText),
  ].join("\n");
}

function noOwnerWords(last: string | undefined): string {
  return `none any more: the log is sealed${last === undefined ? "" : `; its last segment is of ${last}`}`;
}

export function ledgerText(ledger: LedgerJson): string {
  const end =
    ledger.last_entry === undefined ? "" : `, last entry ${ledger.last_entry}, ${ledger.length} bytes`;
  const { origin } = ledger;
  return [
    `ledger        ${ledger.ledger_id}`,
    `state         ${ledger.state}${end}`,
    `created       ${timeText(ledger.created_at)}`,
    ...(origin === undefined
      ? []
      : [`of log        ${origin.incarnation}, from seq_num ${origin.first_seq_num}, owner ${origin.owner}`]),
    `replication   ${replicationText(ledger.replication)}`,
    `digest        ${ledger.digest}`,
    ...ledger.fragments.flatMap((fragment) => [
      `from entry    ${fragment.first_entry}`,
      ...fragment.ensemble.map(({ bookie, region, rack }) => `  bookie      ${bookie} at /${region}/${rack}`),
    ]),
    ...ledger.retired.map((bookie) => `retired       ${bookie}`),
  ].join("\n");
}

function segmentText(segment: SegmentListJson["segments"][number]): string {
  const end =
    segment.end === undefined ? "open or not completed" : `to ${segment.end - 1}, ${segment.bytes} bytes`;
  return (
    `  epoch ${String(segment.number).padEnd(4)}  from ${segment.first_seq_num} ${end}; ` +
    `ledger ${segment.ledger_id}, owner ${segment.owner}`
  );
}

function replicationText(sizes: LogJson["config"]["replication"]): string {
  return (
    `${sizes.ensemble_size} bookies, each entry on ${sizes.write_quorum}, ` +
    `acknowledged by ${sizes.ack_quorum} in ${sizes.min_regions} regions`
  );
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
