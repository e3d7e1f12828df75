/** Appends that were acknowledged, and the life of their log in whose ledgers they really stand. */

import { hasCode } from "../../lib/protocol/errors.ts";
import type { LedgerId, LogIncarnation } from "../../lib/protocol/ids.ts";
import { ledgerKey } from "../../lib/protocol/items.ts";
import type { AppendAck } from "../../lib/protocol/log/operations.ts";
import { decodeRecordSet } from "../../lib/protocol/log/records/record-set.ts";
import { contentOf } from "./content.ts";
import { contentsOfEntry } from "./entry-contents.ts";
import type { Content } from "./history.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { Observer } from "./observations.ts";
import type { World } from "./world.ts";

export interface Told {
  readonly log: string;
  readonly contents: readonly Content[];
  readonly ack: AppendAck;
}

export class ToldAppends implements Observer {
  readonly all: Told[] = [];
  /** Ledgers of segment numbers, of each life of a log; late puts in a dead life may use a number again. */
  readonly #ledgers = new Map<LogIncarnation, Map<number, Set<LedgerId>>>();

  constructor(private readonly world: World) {}

  appended(log: string, contents: readonly Content[], ack: AppendAck): void {
    this.all.push({ log, contents, ack });
  }

  metadataChanged({ key, after }: MetadataChange): void {
    if (after?.item.kind !== "segment") return;
    const log = key.partition.replace("segments#", "") as LogIncarnation;
    const { number, ledgerId } = after.item;
    const ofLife = this.#ledgers.get(log) ?? new Map<number, Set<LedgerId>>();
    this.#ledgers.set(log, ofLife.set(number, (ofLife.get(number) ?? new Set()).add(ledgerId)));
  }

  /** Undefined: it does not stand as its answer said. */
  lifeOf(told: Told): LogIncarnation | undefined {
    const lives = this.world.table.itemsOf("log").filter(({ item }) => item.name === told.log);
    return lives.find(({ item: { incarnation: log } }) => {
      const ids = this.#ledgers.get(log)?.get(told.ack.start.dlsn.segment) ?? [];
      return [...ids].some((id) => this.#standsIn(id, told));
    })?.item.incarnation;
  }

  #standsIn(ledgerId: LedgerId, { contents, ack: { start, last } }: Told): boolean {
    const ledger = this.world.table.get(ledgerKey(ledgerId))?.item;
    const isThere = ledger?.kind === "ledger" && ledger.state !== "DELETED";
    const payload = isThere
      ? contentsOfEntry(this.world, ledger, start.dlsn.entry)[0]
      : this.world.shadow.payload(ledgerId, start.dlsn.entry);
    if (payload === undefined || last.dlsn.entry !== start.dlsn.entry) return false;
    const entry = recordSetOf(payload);
    if (entry === undefined) return false;
    const { firstSeqNum, records } = entry;
    if (last.dlsn.slot - start.dlsn.slot !== contents.length - 1) return false;
    return contents.every((content, index) => {
      const slot = start.dlsn.slot + index;
      const record = records[slot];
      if (record === undefined || contentOf(record.body) !== content) return false;
      const end = index === 0 ? start : index === contents.length - 1 ? last : undefined;
      if (end === undefined) return true;
      return end.seqNum === firstSeqNum + slot && end.timestampMs === record.timestampMs;
    });
  }
}

/** Undefined: it is none, so nothing of an answer stands in it. */
function recordSetOf(payload: Uint8Array): ReturnType<typeof decodeRecordSet> | undefined {
  try {
    return decodeRecordSet(payload, "an entry");
  } catch (error) {
    if (hasCode(error, "data_corrupt")) return undefined;
    throw error;
  }
}
