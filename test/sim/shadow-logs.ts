/**
 * What every life of every log held, as the bookies' storage showed it whenever a ledger of it was closed: also
 * of records that are trimmed or deleted since. Nothing of the protocol's own word goes into it.
 */
import { hasCode } from "../../lib/protocol/errors.ts";
import { type EntryId, entryId, type LedgerId, type LogIncarnation } from "../../lib/protocol/ids.ts";
import type { ClosedLedger, LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import { decodeRecordSet } from "../../lib/protocol/log/records/record-set.ts";
import { contentOf } from "./content.ts";
import { contentsOfEntry } from "./entry-contents.ts";
import type { Content } from "./history.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { Observer } from "./observations.ts";
import type { World } from "./world.ts";

export class ShadowLogs implements Observer {
  /** Records by their seq_num. */
  readonly #lives = new Map<LogIncarnation, Map<number, Content>>();
  /** Payloads of the entries of each ledger that was closed, for when it is collected. */
  readonly #payloads = new Map<LedgerId, readonly (Uint8Array | undefined)[]>();
  /** Two records of one life with one seq_num, and entries that are no record sets. */
  readonly conflicts: string[] = [];

  constructor(private readonly world: World) {}

  metadataChanged({ before, after }: MetadataChange): void {
    const ledger = after?.item;
    if (ledger?.kind !== "ledger" || ledger.state !== "CLOSED" || ledger.origin === undefined) return;
    if (before?.item.kind === "ledger" && before.item.state === "CLOSED") return;
    const records = this.of(ledger.origin.log);
    const damaged = (what: string) => this.conflicts.push(what);
    const payloads = payloadsOf(this.world, ledger);
    this.#payloads.set(ledger.ledgerId, payloads);
    for (const [seqNum, content] of recordsOf(ledger, payloads, damaged)) {
      const there = records.get(seqNum);
      if (there !== undefined && there !== content) {
        this.conflicts.push(`record ${seqNum} was ${there} and is ${content} in ledger ${ledger.ledgerId}`);
      }
      records.set(seqNum, content);
    }
  }

  of(log: LogIncarnation): Map<number, Content> {
    const known = this.#lives.get(log) ?? new Map<number, Content>();
    this.#lives.set(log, known);
    return known;
  }

  /** An entry as it was when its ledger was closed. */
  payload(ledgerId: LedgerId, entry: EntryId): Uint8Array | undefined {
    return this.#payloads.get(ledgerId)?.[entry];
  }

  /**
   * The first `count` records of a life, all of them trimmed: those of the last segment, too, whose ledger may
   * be open yet. -1 for one that was never there.
   */
  first(log: LogIncarnation, count: number): Content[] {
    const records = new Map([...this.#ofOpen(log), ...this.of(log)]);
    return Array.from({ length: count }, (_, seqNum) => records.get(seqNum) ?? -1);
  }

  *#ofOpen(log: LogIncarnation): Generator<readonly [number, Content]> {
    const { table } = this.world;
    const named = new Set(table.itemsOf("segment").map(({ item }) => item.ledgerId));
    for (const { item } of table.itemsOf("ledger")) {
      if (item.state === "CLOSED" || item.state === "DELETED") continue;
      if (item.origin?.log !== log || !named.has(item.ledgerId)) continue;
      yield* recordsOf(item, openPayloads(this.world, item), () => {});
    }
  }
}

/** Of an open ledger's entries, up to the first one that no storage has. */
function openPayloads(world: World, ledger: LedgerMetadata): Uint8Array[] {
  const payloads: Uint8Array[] = [];
  for (;;) {
    const [payload] = contentsOfEntry(world, ledger, entryId(payloads.length));
    if (payload === undefined) return payloads;
    payloads.push(payload);
  }
}

/** Of a closed ledger's entries, as far as sound copies are there. */
function payloadsOf(world: World, ledger: ClosedLedger): (Uint8Array | undefined)[] {
  const entries = Array.from({ length: ledger.lastEntry + 1 }, (_, entry) => entryId(entry));
  return entries.map((entry) => contentsOfEntry(world, ledger, entry)[0]);
}

/** Seq_nums and contents. */
function* recordsOf(
  ledger: LedgerMetadata,
  payloads: readonly (Uint8Array | undefined)[],
  damaged: (what: string) => void,
): Generator<readonly [number, Content]> {
  for (const [entry, payload] of payloads.entries()) {
    if (payload === undefined) continue;
    try {
      const { firstSeqNum, records } = decodeRecordSet(payload, `entry ${entry}`);
      for (const [slot, { body }] of records.entries()) yield [firstSeqNum + slot, contentOf(body)];
    } catch (error) {
      if (!hasCode(error, "data_corrupt")) throw error;
      damaged(`ledger ${ledger.ledgerId} was closed with ${error.message}`);
    }
  }
}
