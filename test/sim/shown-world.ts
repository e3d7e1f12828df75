/** A world that a test writes by hand, and what one checker says of it. */
import {
  bookieId,
  entryId,
  ledgerId,
  logIncarnation,
  logName,
  region,
  seqNum,
  tenure,
  type WriteToken,
} from "../../lib/protocol/ids.ts";
import { type Item, type ItemKey, ledgerKey, logKey, logNameKey } from "../../lib/protocol/items.ts";
import { type LedgerMetadata, newLedger } from "../../lib/protocol/ledger-metadata.ts";
import type { SealedEntry } from "../../lib/protocol/ports.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";
import { BookieStorage } from "./bookie-storage.ts";
import type { Checker } from "./checkers/checker.ts";
import { payloadOf, simulatedDigest } from "./content.ts";
import type { Fault } from "./faults.ts";
import type { Answer, Operation, Request } from "./history.ts";
import { MetadataTable } from "./metadata-table.ts";
import type { Observer } from "./observations.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

export const LEDGER = ledgerId(7);
export const LOG = logIncarnation("life");
export const replication = { ensembleSize: 3, writeQuorum: 3, ackQuorum: 2, minRegions: 2 };

export const members: readonly BookieAddress[] = ["east", "east", "west"].map((of, index) => ({
  id: bookieId(`${of}.b${index}~s`),
  place: { region: region(of), rack: "r" },
}));

export const open: LedgerMetadata = newLedger({
  ledgerId: LEDGER,
  replication,
  digest: { type: "crc32" },
  ensemble: members,
  createdAtMs: 0,
});

export const logItem = (fields: Partial<Extract<Item, { kind: "log" }>> = {}): Item => ({
  kind: "log",
  name: logName("orders"),
  incarnation: LOG,
  config: { replication, digest: "crc32", segmentBytesMax: 1 },
  state: "active",
  trimPoint: seqNum(0),
  createdAtMs: 0,
  ...fields,
});

export function entryOf(entry: number, content: number, by = "t", confirmed = entry - 1): SealedEntry {
  const payload = payloadOf(content, 0);
  const lastAddConfirmed = (confirmed < 0 ? -1 : confirmed) as never;
  const header = {
    ledgerId: LEDGER,
    entryId: entryId(entry),
    lastAddConfirmed,
    length: 6,
    tenure: tenure(by),
  };
  return { header, payload, digest: simulatedDigest.compute({ type: "crc32" }, header, payload) };
}

export class ShownWorld {
  readonly said: string[] = [];
  nowMs = 0;
  moment = 0;
  readonly bookies = new Map<string, { address: BookieAddress; storage: BookieStorage }>();
  readonly table: MetadataTable;
  readonly observer: Observer;

  constructor(checker: Checker, faults: readonly Fault[] = []) {
    this.table = new MetadataTable(
      () => this.nowMs,
      (change) => this.observer.metadataChanged?.(change),
    );
    for (const address of members) {
      const storage = new BookieStorage(address.id, "s", (change) => this.observer.storeChanged?.(change));
      this.bookies.set(address.id, { address, storage });
    }
    const { table, bookies } = this;
    const of = this;
    const world = {
      table,
      bookies,
      plan: { faults },
      scheduler: {
        get nowMs() {
          return of.nowMs;
        },
      },
      history: {
        get moment() {
          return of.moment;
        },
      },
      readBack: new Map(),
    };
    this.observer = checker.watch(world as unknown as World, (what) => this.said.push(what));
  }

  put(key: ItemKey, item: Item): void {
    const expected = this.table.get(key)?.version ?? "absent";
    this.table.write({ key, expected, item, token: `w${this.moment}` as WriteToken });
  }

  remove(key: ItemKey): void {
    const version = this.table.get(key)?.version;
    if (version !== undefined) this.table.remove(key, version);
  }

  ledger(item: LedgerMetadata): void {
    this.put(ledgerKey(LEDGER), item);
  }

  log(fields: Parameters<typeof logItem>[0] = {}): void {
    this.put(logKey(LOG), logItem(fields));
    this.put(logNameKey(logName("orders")), { kind: "log-name", name: logName("orders"), incarnation: LOG });
  }

  storage(index: number): BookieStorage {
    const found = this.bookies.get(members[index]?.id ?? "");
    if (found === undefined) throw new Error(`no bookie ${index}`);
    return found.storage;
  }

  slot(index: number, entry: number, value: Parameters<BookieStorage["put"]>[1]): void {
    this.storage(index).put({ kind: "slot", ledgerId: LEDGER, entryId: entryId(entry) }, value);
  }

  told(request: Request, answer: Answer, startedAt: number, endedAt: number): void {
    const process = { name: "a", region: region("east"), ordinal: 0 } as SimulatedProcess;
    const operation: Operation = { number: 1, actor: "a", process, request, answer, startedAt, endedAt };
    this.observer.operated?.(operation);
  }
}
