/**
 * What one bookie's bucket holds, and every change to it. Plain and synchronous: an operation takes effect
 * within one event, which is what "atomic per key" means here. Checkers look inside.
 */
import type { BookieId, EntryId, LedgerId } from "../../lib/protocol/ids.ts";
import type { StoreKey, StoreListRequest, StorePage, StoreValue } from "../../lib/protocol/ports.ts";

export interface StoreChange {
  readonly storage: BookieStorage;
  readonly bookie: BookieId;
  readonly key: StoreKey;
  readonly before: StoreValue | undefined;
  readonly after: StoreValue | undefined;
}

interface LedgerSlots {
  readonly ordinal: number;
  fence: StoreValue | undefined;
  readonly slots: Map<EntryId, StoreValue>;
}

export class BookieStorage {
  readonly #ledgers = new Map<LedgerId, LedgerSlots>();
  #marker: StoreValue | undefined;
  /** No call to it succeeds while it is being replaced. */
  offline = false;
  /** Its contents were lost, or some copies are bad: what it held no longer counts. */
  damaged = false;

  constructor(
    readonly bookie: BookieId,
    storage: string,
    private readonly changed: (change: StoreChange) => void,
    /** What reaches the medium when `value` is written; rot changes it. */
    public written: (value: StoreValue) => StoreValue = (value) => value,
  ) {
    this.#marker = { kind: "incarnation", storage };
  }

  /** Empties the storage; `marker` names the storage that is there from now on, if any. */
  empty(marker: string | undefined): void {
    this.damaged = true;
    this.#ledgers.clear();
    this.#marker = marker === undefined ? undefined : { kind: "incarnation", storage: marker };
  }

  get(key: StoreKey): StoreValue | undefined {
    if (key.kind === "incarnation") return this.#marker;
    const ledger = this.#ledgers.get(key.ledgerId);
    return key.kind === "fence" ? ledger?.fence : ledger?.slots.get(key.entryId);
  }

  put(key: StoreKey, value: StoreValue): void {
    const before = this.get(key);
    this.#set(key, this.written(value));
    this.changed({ storage: this, bookie: this.bookie, key, before, after: value });
  }

  putIfAbsent(key: StoreKey, value: StoreValue): "stored" | "occupied" {
    if (this.get(key) !== undefined) return "occupied";
    this.put(key, value);
    return "stored";
  }

  delete(key: StoreKey): void {
    const before = this.get(key);
    if (before === undefined) return;
    this.#set(key, undefined);
    this.changed({ storage: this, bookie: this.bookie, key, before, after: undefined });
  }

  /** Keys in a fixed order: ledgers as they came, in each the highest entry first and the fence last. */
  list(request: StoreListRequest): StorePage {
    const keys = request.ledgerId === undefined ? this.#allKeys() : this.#keysOf(request.ledgerId);
    const [afterLedger, afterEntry] = position(request.after);
    const rest = keys.filter((key) => {
      const [ledger, entry] = this.#placeOf(key);
      return ledger > afterLedger || (ledger === afterLedger && entry < afterEntry);
    });
    const page = rest.slice(0, request.limit);
    const last = page.at(-1);
    if (last === undefined || page.length === rest.length) return { keys: page };
    return { keys: page, next: this.#placeOf(last).join(":") };
  }

  /** Entry ids of the ledger that have anything in their slot. */
  slotsOf(ledgerId: LedgerId): ReadonlyMap<EntryId, StoreValue> {
    return this.#ledgers.get(ledgerId)?.slots ?? new Map();
  }

  #allKeys(): StoreKey[] {
    return [...this.#ledgers.keys()].flatMap((ledgerId) => this.#keysOf(ledgerId));
  }

  #keysOf(ledgerId: LedgerId): StoreKey[] {
    const ledger = this.#ledgers.get(ledgerId);
    if (ledger === undefined) return [];
    const entries = [...ledger.slots.keys()].sort((one, other) => other - one);
    const keys = entries.map((entryId): StoreKey => ({ kind: "slot", ledgerId, entryId }));
    return ledger.fence === undefined ? keys : [...keys, { kind: "fence", ledgerId }];
  }

  /** Ordinal of the ledger, and the entry; a fence comes after entry 0. */
  #placeOf(key: StoreKey): [number, number] {
    if (key.kind === "incarnation") return [-1, -1];
    const ordinal = this.#ledgers.get(key.ledgerId)?.ordinal ?? -1;
    return [ordinal, key.kind === "slot" ? key.entryId : -1];
  }

  #set(key: StoreKey, value: StoreValue | undefined): void {
    if (key.kind === "incarnation") {
      this.#marker = value;
      return;
    }
    let ledger = this.#ledgers.get(key.ledgerId);
    if (ledger === undefined) {
      ledger = { ordinal: this.#ledgers.size, fence: undefined, slots: new Map() };
      this.#ledgers.set(key.ledgerId, ledger);
    }
    if (key.kind === "fence") ledger.fence = value;
    else if (value === undefined) ledger.slots.delete(key.entryId);
    else ledger.slots.set(key.entryId, value);
  }
}

function position(token: string | undefined): [number, number] {
  const [ledger, entry] = (token ?? "-1:0").split(":").map(Number);
  return [ledger ?? -1, entry ?? 0];
}
