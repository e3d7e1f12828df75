/**
 * A world for stories about the log: three regions with a bookie each and a spare, one metadata store, and
 * named clients that run the shipped log layer. Faults happen at ports only.
 *
 *     const w = await LogWorld.make();
 *     const p = w.client("P", "east");
 *     await p.append("a", "b");                    // positions [0, 1]
 *     expect(await w.client("T", "west").read(0)).toEqual(["a", "b"]);
 */

import { MemoryInboxStore } from "../../../lib/adapters/memory/memory-inbox-store.ts";
import { MemoryLeaseStore } from "../../../lib/adapters/memory/memory-lease-store.ts";
import { keySender } from "../../../lib/api/append-sender.ts";
import { type FencelineError, unavailable } from "../../../lib/protocol/errors.ts";
import {
  type LedgerId,
  type LogIncarnation,
  logName,
  type Region,
  type SeqNum,
  seqNum,
  writeToken,
} from "../../../lib/protocol/ids.ts";
import {
  type Item,
  type ItemKey,
  type LogConfig,
  ledgerKey,
  segmentKey,
  segmentsPartition,
} from "../../../lib/protocol/items.ts";
import { allItems } from "../../../lib/protocol/log/chain/segments.ts";
import type { InboxStore } from "../../../lib/protocol/log/inbox-store.ts";
import type { LogAppends } from "../../../lib/protocol/log/log-appends.ts";
import type {
  ForwardAnswer,
  LogPorts,
  RegionAppends,
  RegionLeases,
  Settler,
} from "../../../lib/protocol/log/log-ports.ts";
import type { AppendAck, ReadAnswer, ReadOperations } from "../../../lib/protocol/log/operations.ts";
import type { RecordInput } from "../../../lib/protocol/log/records/record.ts";
import type { Auditor } from "../../../lib/protocol/log/upkeep/audit.ts";
import { auditSegments } from "../../../lib/protocol/log/upkeep/audit-segments.ts";
import type { LeaseStore, MetadataStore } from "../../../lib/protocol/ports.ts";
import { composeAnySizes } from "../../process-ports.ts";
import { World, type WorldFields } from "../world.ts";

export const LOG = logName("orders");

const FIELDS: WorldFields = {
  bookies: ["B0@east", "B1@west", "B2@north", "B3@east"],
  quorums: [3, 3, 2],
  minRegions: 2,
};

export interface LogWorldFields extends Partial<WorldFields> {
  readonly segmentBytesMax?: number;
  readonly segmentAgeMaxMs?: number;
  /** The processes of a region pass a writer lease. Without, each opens segments of its own. */
  readonly leases?: boolean;
  /** What a client makes of its region's lease table: the table as it is, unless a story breaks a rule. */
  readonly wrongLeases?: (table: LeaseStore, client: string) => LeaseStore;
  /** Its processes post to the one that serves. */
  readonly inbox?: boolean;
  /** What a client makes of its region's inbox, likewise. */
  readonly wrongInbox?: (table: InboxStore, client: string) => InboxStore;
  /** Appends are forwarded to the owner's region. Without, a log is taken over where they arrive. */
  readonly forwarding?: boolean;
}

export const recordOf = (text: string): RecordInput => ({
  body: new TextEncoder().encode(text),
  headers: [],
});
export const textsOf = ({ records }: Pick<ReadAnswer, "records">): string[] =>
  records.map(({ body }) => new TextDecoder().decode(body));

export class LogWorld {
  readonly config: LogConfig;
  #clients = new Map<Region, LogClient>();
  #log: LogIncarnation | undefined;

  /** The lease tables, without faults, by region. */
  readonly leases = new Map<string, MemoryLeaseStore>();

  /** The inboxes, likewise. */
  readonly inboxes = new Map<string, MemoryInboxStore>();

  private constructor(
    readonly world: World,
    segments: Pick<LogConfig, "segmentBytesMax" | "segmentAgeMaxMs">,
    private readonly fields: Omit<LogWorldFields, keyof WorldFields>,
  ) {
    this.config = { replication: world.replication, digest: "crc32", ...segments };
  }

  /** A world with the log created. */
  static async make(fields: LogWorldFields = {}): Promise<LogWorld> {
    const { segmentBytesMax = 1024 * 1024, segmentAgeMaxMs, ...world } = fields;
    const age = segmentAgeMaxMs === undefined ? {} : { segmentAgeMaxMs };
    const segments = { segmentBytesMax, ...age };
    const w = new LogWorld(await World.make({ ...FIELDS, ...world }), segments, fields);
    const creation = w.client("creator", "east").appends.createLog(LOG, w.config);
    w.#log = (await w.world.run(creation)).description.incarnation;
    w.#clients.clear();
    return w;
  }

  get faults() {
    return this.world.faults;
  }

  /** The partition of the log's segment items: what a fault on elections is about. */
  get elections(): string {
    return segmentsPartition(this.log);
  }

  get log(): LogIncarnation {
    if (this.#log === undefined) throw new Error("the log is not created yet");
    return this.#log;
  }

  /**
   * A process in a region. The first one of a region also serves as its `append` function when a reader
   * asks to settle.
   */
  client(name: string, where = "east", metadata?: (store: MetadataStore) => MetadataStore): LogClient {
    const ports = this.world.ports(name, where);
    const given = metadata === undefined ? ports : { ...ports, metadata: metadata(ports.metadata) };
    const leases = this.fields.leases ? { leases: this.#leasesFor(name, where) } : {};
    const regions = this.fields.forwarding ? { regions: this.#regionsFor(name) } : {};
    const inbox = this.fields.inbox ? { inbox: this.#inboxFor(name, where) } : {};
    const client = new LogClient(this, name, { ...given, ...leases, ...inbox, ...regions });
    const there = this.#clients.get(client.ports.region);
    if (there === undefined || there.isDead) this.#clients.set(client.ports.region, client);
    return client;
  }

  leaseTable(where: string): MemoryLeaseStore {
    const table = this.leases.get(where) ?? new MemoryLeaseStore();
    this.leases.set(where, table);
    return table;
  }

  inboxTable(where: string): MemoryInboxStore {
    const table = this.inboxes.get(where) ?? new MemoryInboxStore(this.world.clock);
    this.inboxes.set(where, table);
    return table;
  }

  #inboxFor(client: string, where: string): InboxStore {
    const given = through<InboxStore>(() => this.inboxTable(where));
    const table = this.fields.wrongInbox?.(given, client) ?? given;
    const faulty = <T>(call: string, about: string, effect: () => Promise<T>) =>
      this.faults.through({ port: "inbox", client, target: "inbox", call, about }, effect);
    return {
      post: (log, request) => faulty("post", request.ticket.id, () => table.post(log, request)),
      requests: (log, query) => faulty("requests", query.tenure, () => table.requests(log, query)),
      answer: (log, answers) => faulty("answer", log, () => table.answer(log, answers)),
      readAnswer: (log, ticket, consistency) =>
        faulty("readAnswer", consistency, () => table.readAnswer(log, ticket, consistency)),
    };
  }

  #leasesFor(client: string, where: string): RegionLeases {
    const table = through<LeaseStore>(() => this.leaseTable(where));
    const store = this.fields.wrongLeases?.(table, client) ?? table;
    const faulty = <T>(call: string, about: string, effect: () => Promise<T>) =>
      this.faults.through({ port: "lease", client, target: "lease", call, about }, effect);
    return {
      holder: client,
      store: {
        read: (log) => faulty("read", log, () => store.read(log)),
        write: (log, expected, lease, token) =>
          faulty("write", log, () => store.write(log, expected, lease, token)),
        readFailures: (owner) => faulty("readFailures", owner, () => store.readFailures(owner)),
        writeFailures: (owner, ...given) =>
          faulty("writeFailures", owner, () => store.writeFailures(owner, ...given)),
      },
    };
  }

  /** The first process of each region is its `append` function as the other regions reach it. */
  #regionsFor(client: string): RegionAppends {
    const through = <T>(call: string, target: string, effect: (there: LogAppends) => Promise<T>) =>
      this.faults.through({ port: "region", client, target, call, about: "" }, async () => {
        const there = this.#clients.get(target as Region);
        if (there === undefined) throw unavailable(`nobody is in ${target}`, "none");
        return await Promise.race([effect(there.appends), there.death]);
      });
    return {
      append: (where, request) =>
        through("append", where, (there) =>
          there.append(request).then(
            (ack): ForwardAnswer => ({ kind: "acknowledged", ack }),
            (error): ForwardAnswer => ({ kind: "refused", error }),
          ),
        ),
      canOwn: (where, log) => through("canOwn", where, (there) => there.canOwn(log)),
      ask: (where, request) => through("ask", where, (there) => there.serve(request)),
    };
  }

  /** The owner's function first; if that fails, the reader's own region takes over. */
  settler(own: LogClient): Settler {
    return {
      settle: async (ownerRegion, log) => {
        const owner = this.#clients.get(ownerRegion) ?? own;
        try {
          await owner.appends.settle(log);
        } catch {
          await own.appends.settle(log);
        }
      },
    };
  }

  /** The chain as metadata has it: `{ 0: ledger id, 5: "end" }`. */
  async chain(log = this.log): Promise<Record<number, LedgerId | "end">> {
    const items = await allItems(this.world.metadata, log, "consistent");
    return Object.fromEntries(
      items.map((one) => [one.first, one.kind === "end" ? "end" : one.item.ledgerId]),
    );
  }

  async ledgerState(id: LedgerId | "end" | undefined): Promise<string> {
    const item = (await this.world.metadata.get(ledgerKey(id as LedgerId), "consistent"))?.item;
    return item?.kind === "ledger" ? item.state : "missing";
  }

  /** A bookie of the last segment's present ensemble. */
  async anEnsembleMember(): Promise<string | undefined> {
    const id = Object.values(await this.chain()).at(-1);
    const item = (await this.world.metadata.get(ledgerKey(id as LedgerId), "consistent"))?.item;
    return item?.kind === "ledger" ? item.fragments.at(-1)?.ensemble[0]?.id : undefined;
  }

  /** Writes an item behind everybody's back, as a part of the system does that is not in the story. */
  async put(key: ItemKey, item: Item): Promise<void> {
    const now = await this.world.metadata.get(key, "consistent");
    const token = writeToken(`story-${this.world.clock.nowMs()}`);
    const answer = await this.world.metadata.write(key, now?.version ?? "absent", item, token);
    if (answer.kind !== "written") throw new Error("the story's own write lost");
  }

  async removeItem(key: ItemKey): Promise<void> {
    const now = await this.world.metadata.get(key, "consistent");
    if (now !== undefined) await this.world.metadata.remove(key, now.version);
  }

  /** Somebody elsewhere trims the log (rule 30). */
  async trim(to: number): Promise<number> {
    return await this.run(composeAnySizes(this.world.ports("trimmer")).append.trim(LOG, seqNum(to)));
  }

  /** One pass of the auditor (rule 31): the keys of the items that it removed. */
  async audit(client = "auditor", log = this.log): Promise<number[]> {
    const { removed, failed } = await this.run(auditSegments(this.world.ports(client), log));
    for (const { error } of failed) throw error;
    return removed.map(({ first }) => first);
  }

  /** Moves the last segment's item to the seq_num behind its own, so that nothing fits any more. */
  async shiftSegment(): Promise<void> {
    const last = (await allItems(this.world.metadata, this.log, "consistent")).at(-1);
    if (last === undefined) throw new Error("no segment to move");
    await this.removeItem(segmentKey(this.log, last.first));
    await this.put(segmentKey(this.log, seqNum(last.first + 1)), last.item);
  }

  /** Somebody elsewhere deletes the log, and creates one of its name. The former incarnation. */
  async deleteAndCreateAgain(): Promise<LogIncarnation> {
    const former = this.log;
    const { append } = composeAnySizes(this.world.ports("deleter"));
    const answer = await this.run(append.deleteLog(LOG));
    if (answer !== "deleted") throw new Error(`the log is ${answer}`);
    await this.createAgain();
    return former;
  }

  createAgain(): Promise<void> {
    return this.run(this.creatingAgain());
  }

  /** The same within a call that is under way. */
  async creatingAgain(): Promise<void> {
    const { append } = composeAnySizes(this.world.ports("creator"));
    this.#log = (await append.createLog(LOG, this.config)).description.incarnation;
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.world.run(promise);
  }

  idle(): Promise<void> {
    return this.world.idle();
  }
}

/** The table that is there at each call: a story may lose it. */
function through<T extends object>(table: () => T): T {
  return new Proxy({} as T, {
    get: (_, call) => (Reflect.get(table(), call) as () => unknown).bind(table()),
  });
}

/** One process. Outcomes are words and numbers, so that a story reads as one. */
export class LogClient {
  readonly appends: LogAppends;
  readonly reads: ReadOperations;
  readonly auditor: Auditor;
  isDead = false;
  /** Rejects when the process dies: its callers get no answer. */
  readonly death: Promise<never>;
  #die: (error: unknown) => void = () => {};

  constructor(
    private readonly w: LogWorld,
    readonly name: string,
    readonly ports: LogPorts,
  ) {
    const { append, read, auditor } = composeAnySizes(ports, () => w.settler(this));
    this.appends = append;
    this.reads = read;
    this.auditor = auditor;
    this.death = new Promise((_, reject) => {
      this.#die = reject;
    });
    this.death.catch(() => {});
  }

  /** From here on it does nothing; another client of its region takes its calls, if there is one. */
  die(): void {
    this.isDead = true;
    for (const moment of ["before", "after"] as const) this.w.faults.hold({ client: this.name }, moment);
    this.#die(unavailable(`${this.name} died`));
  }

  /** Appends each text as a batch of its own, all at once, without waiting. */
  sending(...texts: string[]): Promise<string[]> {
    return Promise.all(texts.map((text) => told(this.sendingBatch([text]))));
  }

  sendingBatch(texts: readonly string[], matchSeqNum?: number, key?: string): Promise<AppendAck> {
    const records = texts.map(recordOf);
    const condition = matchSeqNum === undefined ? {} : { matchSeqNum: seqNum(matchSeqNum) };
    const sender = key === undefined ? {} : { sender: keySender(key) };
    return this.appends.append({ log: LOG, records, ...condition, ...sender });
  }

  /**
   * Appends each text as a batch and an entry of its own, one after another; "at N", or the error's code and
   * side effects.
   */
  append(...texts: string[]): Promise<string[]> {
    return this.w.run(this.oneByOne(texts));
  }

  async oneByOne(texts: readonly string[]): Promise<string[]> {
    const answers: string[] = [];
    for (const text of texts) answers.push(...(await this.sending(text)));
    return answers;
  }

  /** Releases the lease, as a function does at the end of its request. */
  release(): Promise<void> {
    return this.w.run(this.appends.release());
  }

  /** A strong read: the texts from `from` on up to the tail. */
  async read(from: number): Promise<string[]> {
    return textsOf(await this.answer(from));
  }

  answer(from: number, limit = 1_000): Promise<ReadAnswer> {
    return this.w.run(this.reads.read({ log: LOG, from: from as SeqNum, limit, consistency: "strong" }));
  }

  /** What a strong read says: the texts, or the error's code. */
  async readOrError(from: number): Promise<string[] | string> {
    return await this.read(from).catch((error: FencelineError) => error.code);
  }

  async tail(): Promise<number> {
    const { tail, upToDate } = await this.w.run(this.reads.tail(LOG, "strong"));
    if (!upToDate) throw new Error("a strong tail is up to date");
    return tail;
  }
}

/** An append's outcome in words. */
export function told(outcome: Promise<AppendAck>): Promise<string> {
  return outcome.then(
    ({ start }) => `at ${start.seqNum}`,
    (error: FencelineError) => `${error.code}, side effects ${error.sideEffects}`,
  );
}
