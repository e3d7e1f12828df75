/**
 * A small world for stories: named bookies (`StoredBookie` over memory stores), one metadata store, and named
 * clients that run the shipped writer, reader and recovery. Faults happen at ports only.
 *
 *     const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
 *     const writer = await w.writer("W");                    // ensemble B0 B1 B2, spare B3
 *     const late = w.faults.hold({ target: "B1", call: "putIfAbsent", port: "store" });
 */
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import {
  StoredBookie,
  type StoredBookieFields,
  setUpStorage,
} from "../../lib/protocol/bookie/stored-bookie.ts";
import { Age } from "../../lib/protocol/deadline.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import {
  type BookieId,
  bookieId,
  type EntryId,
  entryId,
  type LedgerId,
  region,
} from "../../lib/protocol/ids.ts";
import { ledgerKey } from "../../lib/protocol/items.ts";
import { createLedger } from "../../lib/protocol/ledger/create-ledger.ts";
import type { LedgerPorts } from "../../lib/protocol/ledger/ledger-ports.ts";
import { LedgerReader } from "../../lib/protocol/ledger/ledger-reader.ts";
import { LedgerWriter } from "../../lib/protocol/ledger/ledger-writer.ts";
import { recoverLedger } from "../../lib/protocol/ledger/recover-ledger.ts";
import type { LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import type { LogPorts } from "../../lib/protocol/log/log-ports.ts";
import type {
  Bookie,
  EntryStore,
  MetadataStore,
  SealedEntry,
  StoreKey,
  StoreValue,
} from "../../lib/protocol/ports.ts";
import type { BookieAddress, LedgerDigest, Replication } from "../../lib/protocol/replication.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import { fixed, testPorts } from "../process-ports.ts";
import { Faults } from "./faults.ts";
import { inOrder } from "./in-order.ts";
import type { Acknowledged, ReaderSaid, RecoveryEnd } from "./promises.ts";
import { TestClock } from "./test-clock.ts";

export interface WorldFields {
  /** Names, or `name@region`; the first E of them are the first ensemble. */
  readonly bookies: readonly string[];
  /** E, Qw, Qa. */
  readonly quorums: readonly [number, number, number];
  readonly minRegions?: number;
  readonly digest?: LedgerDigest;
  /** Makes the bookies, `StoredBookie` unless a story shows what a wrong one would do. */
  readonly bookie?: (fields: StoredBookieFields) => Bookie;
  /** Changes what a client is given, where a story shows what a wrong client would do. */
  readonly client?: (ports: LedgerPorts, client: string) => LedgerPorts;
}

export { inOrder };

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The payload of an entry as text. */
export const textOf = (entry: SealedEntry): string => new TextDecoder().decode(entry.payload);

export class World {
  readonly clock = new TestClock(1);
  readonly faults = new Faults();
  readonly trace: TraceEvent[] = [];
  readonly stores = new Map<string, MemoryEntryStore>();
  /**
   * The metadata store itself, without faults: for the story to look at and to change things behind the
   * clients' backs.
   */
  readonly metadata = new MemoryMetadataStore();
  readonly addresses: BookieAddress[] = [];
  /** What callers were promised: entries acknowledged, strong reads answered, ends of recoveries. */
  readonly acknowledged: Acknowledged[] = [];
  readonly readerSaid: ReaderSaid[] = [];
  readonly ends: RecoveryEnd[] = [];
  readonly replication: Replication;
  readonly digest: LedgerDigest;
  ledgerId: LedgerId | undefined;
  #randomState = 1;
  readonly #fields: WorldFields;

  private constructor(fields: WorldFields) {
    this.#fields = fields;
    const [ensembleSize, writeQuorum, ackQuorum] = fields.quorums;
    this.replication = { ensembleSize, writeQuorum, ackQuorum, minRegions: fields.minRegions ?? 1 };
    this.digest = fields.digest ?? { type: "crc32" };
  }

  static async make(fields: WorldFields): Promise<World> {
    const world = new World(fields);
    for (const name of fields.bookies) await world.addBookie(name);
    return world;
  }

  /** Adds a bookie with empty storage. */
  async addBookie(nameAndRegion: string): Promise<void> {
    const [name = "", where = "r"] = nameAndRegion.split("@");
    const store = new MemoryEntryStore();
    await setUpStorage(store, `storage-${name}`);
    this.stores.set(name, store);
    this.addresses.push({ id: bookieId(name), place: { region: region(where), rack: name } });
  }

  /** The storage of `name` comes back empty under the same name, marked or not. */
  async wipe(name: string, mark?: string): Promise<void> {
    const store = new MemoryEntryStore();
    if (mark !== undefined) await setUpStorage(store, mark);
    this.stores.set(name, store);
  }

  store(name: string): MemoryEntryStore {
    const store = this.stores.get(name);
    if (store === undefined) throw new Error(`no bookie ${name}`);
    return store;
  }

  /** What is in a slot of the story's ledger: "original", "recovered", "tombstone" or "nothing". */
  async slot(name: string, entry: number): Promise<StoreValue["kind"] | "nothing"> {
    const value = await this.store(name).get({
      kind: "slot",
      ledgerId: this.theLedger(),
      entryId: entryId(entry),
    });
    return value?.kind ?? "nothing";
  }

  /** The copy of an entry that a bookie holds. */
  async entryAt(name: string, entry: number): Promise<SealedEntry> {
    const key: StoreKey = { kind: "slot", ledgerId: this.theLedger(), entryId: entryId(entry) };
    const value = await this.store(name).get(key);
    if (value?.kind === "original" || value?.kind === "recovered") return value.entry;
    throw new Error(`${name} has no copy of entry ${entry}`);
  }

  theLedger(): LedgerId {
    if (this.ledgerId === undefined) throw new Error("no writer has opened a ledger yet");
    return this.ledgerId;
  }

  /** The story's ledger as metadata has it now. */
  async ledger(id: LedgerId = this.theLedger()): Promise<LedgerMetadata> {
    const item = (await this.metadata.get(ledgerKey(id), "consistent"))?.item;
    if (item?.kind !== "ledger") throw new Error(`no ledger ${id}`);
    return item;
  }

  /** Names of the ensembles, fragment by fragment: `{ 0: "B0 B1 B2" }`. */
  async ensembles(): Promise<Record<number, string>> {
    const { fragments } = await this.ledger();
    return Object.fromEntries(
      fragments.map((one) => [one.firstEntry, one.ensemble.map((member) => member.id).join(" ")]),
    );
  }

  /** The ports of a client of that name. */
  ports(client: string, where = "r"): LogPorts {
    const bookies = new Map<BookieId, Bookie>();
    const ports = testPorts({
      clock: this.clock,
      random: { uint32: () => this.#draw() },
      trace: { emit: (event) => void this.trace.push(event) },
      metadata: this.#metadataFor(client),
      bookies: {
        bookie: (id) => {
          const known = bookies.get(id) ?? this.#bookieFor(client, id);
          bookies.set(id, known);
          return known;
        },
      },
      topology: fixed(this.addresses),
      placement: inOrder,
      region: region(where),
    });
    return { ...ports, ...this.#fields.client?.(ports, client) };
  }

  /** A bookie as that client reaches it: for messages that come late, or twice. */
  bookie(client: string, name: string): Bookie {
    return this.ports(client).bookies.bookie(bookieId(name));
  }

  /** Creates a ledger and a writer for it. */
  async writer(client = "W"): Promise<Adder> {
    const ports = this.ports(client);
    const ledger = await this.run(
      createLedger(ports, { replication: this.replication, digest: this.digest }),
    );
    this.ledgerId = ledger.item.ledgerId;
    return new Adder(this, new LedgerWriter(ports, ledger));
  }

  /** Another process that holds itself for the writer of the story's ledger. */
  async otherWriter(client: string): Promise<Adder> {
    const read = await this.metadata.get(ledgerKey(this.theLedger()), "consistent");
    if (read?.item.kind !== "ledger" || read.item.state !== "OPEN") throw new Error("the ledger is not open");
    const ledger = { ...read, item: read.item, readAt: new Age(this.clock) };
    return new Adder(this, new LedgerWriter(this.ports(client), ledger));
  }

  /** From here on nothing that the client says reaches these bookies: silence, no error. */
  cut(client: string, ...names: string[]): void {
    for (const target of names) this.faults.hold({ client, target, port: "bookie" });
  }

  /** From here on nothing comes out of that client and nothing reaches it, until it thaws. */
  freeze(client: string): { thaw: () => void } {
    const held = (["bookie", "metadata"] as const).flatMap((port) => [
      this.faults.hold({ client, port }, "before"),
      this.faults.hold({ client, port }, "after"),
    ]);
    return { thaw: () => held.forEach((one) => void one.release()) };
  }

  /** Starts a recovery of the story's ledger. */
  recovery(client = "R"): Promise<LedgerMetadata | undefined> {
    const recovery = recoverLedger(this.ports(client), this.theLedger());
    recovery.then(
      (ledger) => ledger !== undefined && this.ends.push(ledger),
      () => undefined, // the story looks at it when it wants to
    );
    return recovery;
  }

  /** A recovery from start to end. */
  async recover(client = "R"): Promise<LedgerMetadata | undefined> {
    return await this.run(this.recovery(client));
  }

  reader(client = "T"): LedgerReader {
    return new LedgerReader(this.ports(client), this.theLedger());
  }

  /** A strong read: the payload as text, or what the reader said instead. */
  async read(reader: LedgerReader, entry: number): Promise<string> {
    return await this.run(this.reading(reader, entry));
  }

  /** The same, only begun: no time passes. */
  async reading(reader: LedgerReader, entry: number): Promise<string> {
    const { ledgerId } = reader;
    const acknowledgedBefore = this.acknowledged
      .filter((one) => one.ledgerId === ledgerId)
      .map((one) => one.entry);
    const item = (await this.metadata.get(ledgerKey(ledgerId), "consistent"))?.item;
    const stateBefore = item?.kind === "ledger" ? item.state : "missing";
    const read = await reader.read(entryId(entry), "strong");
    const said: ReaderSaid = {
      ledgerId,
      entry: entryId(entry),
      said: read.kind,
      ...(read.kind === "entry" ? { text: textOf(read.entry) } : {}),
      acknowledgedBefore,
      stateBefore,
    };
    this.readerSaid.push(said);
    return said.text ?? said.said;
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.clock.run(promise);
  }

  idle(): Promise<void> {
    return this.clock.idle();
  }

  #draw(): number {
    this.#randomState = (Math.imul(this.#randomState, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#randomState;
  }

  #metadataFor(client: string): MetadataStore {
    const through = <T>(call: string, about: string, effect: () => Promise<T>) =>
      this.faults.through({ port: "metadata", client, target: "metadata", call, about }, effect);
    const store = this.metadata;
    return {
      get: (key, consistency) => through("get", key.partition, () => store.get(key, consistency)),
      write: (key, expected, item, token) =>
        through("write", key.partition, () => store.write(key, expected, item, token)),
      remove: (key, expected) => through("remove", key.partition, () => store.remove(key, expected)),
      query: (query, consistency) => through("query", query.partition, () => store.query(query, consistency)),
    };
  }

  #bookieFor(client: string, id: BookieId): Bookie {
    const target = String(id);
    const { clock } = this;
    const fields = { id, storage: `storage-${id}`, store: this.#storeFor(client, target), clock };
    const stored = () => this.#fields.bookie?.(fields) ?? new StoredBookie(fields);
    const through = <T>(call: string, entry: EntryId | undefined, effect: (bookie: Bookie) => Promise<T>) =>
      this.faults.through({ port: "bookie", client, target, call, about: String(entry ?? "") }, () =>
        effect(stored()),
      );
    return {
      id,
      add: (entry) => through("add", entry.header.entryId, (bookie) => bookie.add(entry)),
      read: (ledger, entry) => through("read", entry, (bookie) => bookie.read(ledger, entry)),
      readSeveral: (ledger, entries) =>
        through("readSeveral", undefined, async (bookie) => {
          return (await bookie.readSeveral?.(ledger, entries)) ?? entries.map(() => undefined);
        }),
      tail: (ledger) => through("tail", undefined, (bookie) => bookie.tail(ledger)),
      fence: (ledger) => through("fence", undefined, (bookie) => bookie.fence(ledger)),
      recoveryRead: (ledger, entry) =>
        through("recoveryRead", entry, (bookie) => bookie.recoveryRead(ledger, entry)),
      recoveryAdd: (entry) =>
        through("recoveryAdd", entry.header.entryId, (bookie) => bookie.recoveryAdd(entry)),
      seal: (ledger, entry) => through("seal", entry, (bookie) => bookie.seal(ledger, entry)),
      deleteEntries: (ledger, last) =>
        through("deleteEntries", last, (bookie) => bookie.deleteEntries(ledger, last)),
      forget: (ledger) => through("forget", undefined, (bookie) => bookie.forget(ledger)),
    };
  }

  /** Every bookie process reaches the same store; each single operation is a call that faults can meet. */
  #storeFor(client: string, target: string): EntryStore {
    const about = (key: StoreKey) => (key.kind === "slot" ? String(key.entryId) : key.kind);
    const through = <T>(call: string, what: string, effect: (store: MemoryEntryStore) => Promise<T>) =>
      this.faults.through({ port: "store", client, target, call, about: what }, () => {
        const store = this.stores.get(target);
        if (store === undefined) throw unavailable(`${target} is gone`);
        return effect(store);
      });
    return {
      putIfAbsent: (key, value) =>
        through("putIfAbsent", about(key), (store) => store.putIfAbsent(key, value)),
      put: (key, value) => through("put", about(key), (store) => store.put(key, value)),
      get: (key) => through("get", about(key), (store) => store.get(key)),
      delete: (key) => through("delete", about(key), (store) => store.delete(key)),
      list: (request) => through("list", "list", (store) => store.list(request)),
    };
  }
}

/** A writer as stories use it: entries are text, outcomes are words. */
export class Adder {
  constructor(
    private readonly world: World,
    readonly writer: LedgerWriter,
  ) {}

  /**
   * Sends an entry and does not wait. Resolves to "acknowledged N" or to the error's code and side effects.
   */
  send(text: string): Promise<string> {
    return this.writer.add(encode(text)).then(
      ({ entryId: id }) => {
        this.world.acknowledged.push({ ledgerId: this.writer.ledger.item.ledgerId, entry: id, text });
        return `acknowledged ${id}`;
      },
      (error) => `${error.code}, side effects ${error.sideEffects}`,
    );
  }

  /** Adds entries one after the other and waits for each. */
  async add(...texts: string[]): Promise<string> {
    let outcome = "";
    for (const text of texts) outcome = await this.world.run(this.send(text));
    return outcome;
  }
}
