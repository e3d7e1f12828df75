/** A log in memory behind the surface's two interfaces; any operation can be made to fail. */
import { NodeDigest } from "../../lib/adapters/node/node-digest.ts";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import {
  type BookieId,
  bookieId,
  entryId,
  type LedgerId,
  type LogIncarnation,
  type LogName,
  ledgerId,
  logIncarnation,
  type Region,
  region,
  type SeqNum,
  segmentNumber,
  seqNum,
  tenure,
} from "../../lib/protocol/ids.ts";
import type { LogConfig } from "../../lib/protocol/items.ts";
import { closeLedger, type LedgerMetadata, newLedger } from "../../lib/protocol/ledger-metadata.ts";
import { batchSender, checkAppend } from "../../lib/protocol/log/appending/append-checks.ts";
import { judgeAppend } from "../../lib/protocol/log/appending/place-appends.ts";
import { refuseDifferences } from "../../lib/protocol/log/catalogue/create-log.ts";
import type {
  AppendAck,
  AppendOperations,
  AppendRequest,
  DeletionAnswer,
  LogDescription,
  Ownership,
  ReadAnswer,
  ReadOperations,
  ReadRequest,
} from "../../lib/protocol/log/operations.ts";
import { ProducerTable } from "../../lib/protocol/log/producers/producer-table.ts";
import { compareDlsn, type LogRecord } from "../../lib/protocol/log/records/record.ts";
import type { RegionDescription, RegionOperations } from "../../lib/protocol/placement/registry.ts";
import { type ReadCost, ReadCounters } from "../../lib/protocol/reads/read-counters.ts";
import type { BookieState, RegionState } from "../../lib/protocol/replication.ts";

export const here = region("us-east-1");
export const fakeLedgerId = ledgerId(42);
export const secretKey = tenure("5ec3e7").repeat(8);

interface FakeLog {
  readonly description: LogDescription;
  readonly records: LogRecord[];
  readonly producers: ProducerTable;
}

/** So many entries, the last of which was hedged and then answered from afar. */
export function costOf(reads: number): ReadCost {
  const counters = new ReadCounters();
  const plain = { attempts: 1, hedges: 0, crossRegionHedges: 0, failovers: 0 };
  for (let read = 1; read < reads; read++) counters.add({ ...plain, winner: "same-region" });
  counters.add({ attempts: 3, hedges: 1, crossRegionHedges: 1, failovers: 1, winner: "region eu-west-1" });
  return { elapsedMs: 41.25, counters };
}

const PORTS = { clock: new SystemClock(), digest: new NodeDigest() };

export class FakeLogs implements AppendOperations, ReadOperations, RegionOperations {
  readonly logs = new Map<LogName, FakeLog>();
  /** Thrown by the next operation, whichever it is. */
  failure: unknown;
  readonly appended: AppendRequest[] = [];
  /** What each creation is warned of. */
  warnings: string[] = [];
  known: RegionDescription[] = [
    {
      region: here,
      state: "accepting",
      bookies: [
        { id: bookieId("us-east-1.b1~s1"), place: { region: here, rack: "a" }, state: "writable" },
        { id: bookieId("us-east-1.b2~s2"), place: { region: here, rack: "b" }, state: "read-only" },
      ],
    },
    { region: region("us-west-2"), state: "draining", bookies: [] },
  ];
  readonly sealed = new Set<LogName>();
  deletionAnswer: DeletionAnswer = "deleted";
  #ledger: LedgerMetadata = newLedger({
    ledgerId: fakeLedgerId,
    replication: { ensembleSize: 1, writeQuorum: 1, ackQuorum: 1, minRegions: 1 },
    digest: { type: "hmac-sha256", keyHex: secretKey },
    ensemble: [{ id: bookieId("us-east-1.b1~s1"), place: { region: here, rack: "a" } }],
    createdAtMs: 1,
  });

  async createLog(name: LogName, config: LogConfig, preferred?: Region) {
    this.#failIfTold();
    const known = this.logs.get(name);
    if (known !== undefined) {
      refuseDifferences(known.description, config, preferred);
      return { created: false, description: known.description, warnings: this.warnings };
    }
    const description: LogDescription = {
      name,
      incarnation: logIncarnation("i1"),
      config,
      state: "active",
      trimPoint: seqNum(0),
      createdAtMs: 1,
      ...(preferred === undefined ? {} : { preferredRegion: preferred }),
    };
    this.logs.set(name, { description, records: [], producers: new ProducerTable() });
    return { created: true, description, warnings: this.warnings };
  }

  async append(request: AppendRequest): Promise<AppendAck> {
    this.#failIfTold();
    checkAppend(request, 2_000_000_000_000);
    const { records, producers } = this.#find(request.log);
    const sender = batchSender(PORTS, request);
    const judged = { sender, matchSeqNum: request.matchSeqNum, records: request.records };
    const refusal = judgeAppend(request.log, producers, judged, seqNum(records.length));
    if (refusal?.kind === "duplicate") return this.#ack(refusal.batch, records.length, true);
    if (refusal !== undefined) throw refusal.error;
    this.appended.push(request);
    const first = records.length;
    request.records.forEach((record, slot) => {
      const dlsn = { segment: segmentNumber(1), entry: entryId(this.appended.length - 1), slot };
      const timestampMs = record.timestampMs ?? 7;
      records.push({ ...record, seqNum: seqNum(records.length), dlsn, timestampMs });
    });
    const places = { start: records[first] as LogRecord, last: records.at(-1) as LogRecord };
    if (sender !== undefined) {
      const { seq, content } = sender;
      producers.note(sender, { seq, content, count: request.records.length, ...places });
    }
    return this.#ack(places, records.length, false);
  }

  #ack(places: Pick<AppendAck, "start" | "last">, tail: number, duplicate: boolean): AppendAck {
    return {
      ...places,
      tail: seqNum(tail),
      ...(duplicate ? {} : { durableIn: [here, region("us-west-2")] }),
      duplicate,
      epoch: segmentNumber(3),
      ownerRegion: here,
    };
  }

  owners = new Map<LogName, Region>();

  async preferRegion(name: LogName, preferred: Region | undefined): Promise<LogDescription> {
    this.#failIfTold();
    const log = this.#find(name);
    const { preferredRegion: _, ...rest } = log.description;
    const description = preferred === undefined ? rest : { ...rest, preferredRegion: preferred };
    this.logs.set(name, { ...log, description });
    return description;
  }

  async transferOwner(name: LogName, to: Region): Promise<Ownership> {
    this.#failIfTold();
    this.#find(name);
    this.owners.set(name, to);
    return { owner: to, epoch: segmentNumber(4) };
  }

  async owner(name: LogName): Promise<Ownership> {
    this.#failIfTold();
    const { preferredRegion: preferred } = this.#find(name).description;
    const owner = this.owners.get(name);
    return {
      ...(owner === undefined ? {} : { owner, epoch: segmentNumber(4) }),
      ...(preferred === undefined ? {} : { preferred }),
    };
  }

  async settle(name: LogName): Promise<void> {
    this.#failIfTold();
    this.#find(name);
  }

  async trim(name: LogName, to: SeqNum): Promise<SeqNum> {
    this.#failIfTold();
    const log = this.#find(name);
    const trimPoint = seqNum(Math.max(log.description.trimPoint, to));
    this.logs.set(name, { ...log, description: { ...log.description, trimPoint } });
    return trimPoint;
  }

  async seal(name: LogName): Promise<SeqNum> {
    this.#failIfTold();
    const tail = seqNum(this.#find(name).records.length);
    this.sealed.add(name);
    return tail;
  }

  async deleteLog(name: LogName, only?: LogIncarnation): Promise<DeletionAnswer> {
    this.#failIfTold();
    const { description } = this.#find(name);
    if (only !== undefined && only !== description.incarnation) {
      throw new FencelineError("log_not_found", { message: `${name} is another log now` });
    }
    this.logs.delete(name);
    return this.deletionAnswer;
  }

  async recoverLedger(id: LedgerId): Promise<LedgerMetadata> {
    this.#failIfTold();
    const ledger = await this.showLedger(id);
    if (ledger.state === "OPEN") this.#ledger = closeLedger(ledger, { lastEntry: entryId(5), length: 9 });
    return this.#ledger;
  }

  async describeLog(name: LogName): Promise<LogDescription> {
    this.#failIfTold();
    const { description } = this.#find(name);
    return this.sealed.has(name) ? { ...description, state: "sealed" } : description;
  }

  async listLogs(request: {
    readonly prefix: string;
    readonly startAfter?: LogName;
    readonly limit: number;
  }) {
    this.#failIfTold();
    const names = [...this.logs.keys()].sort();
    const wanted = names.filter(
      (name) => name.startsWith(request.prefix) && name > (request.startAfter ?? ""),
    );
    return { logs: wanted.slice(0, request.limit), hasMore: wanted.length > request.limit };
  }

  async segments(name: LogName) {
    this.#failIfTold();
    this.#find(name);
    const number = segmentNumber(1);
    const open = {
      number,
      firstSeqNum: seqNum(0),
      ledgerId: fakeLedgerId,
      ownerRegion: here,
      createdAtMs: 1,
    };
    return [{ ...open, completion: { end: seqNum(3), lastEntry: 0, lastTimestampMs: 7, bytes: 11 } }, open];
  }

  async read(request: ReadRequest): Promise<ReadAnswer> {
    this.#failIfTold();
    const { records } = this.#find(request.log);
    const tail = seqNum(records.length);
    const from = startIn(records, request.from);
    if (from > tail) {
      throw new FencelineError("position_unwritten", {
        message: `seq_num ${from} is beyond the tail ${tail}`,
        details: { tail },
      });
    }
    const found = records.slice(from, from + request.limit);
    const next = seqNum(from + found.length);
    const cost = costOf(found.length);
    return { records: found, next, tail, upToDate: next === tail, sealed: false, cost };
  }

  async tail(name: LogName) {
    this.#failIfTold();
    const tail = seqNum(this.#find(name).records.length);
    const sealed = this.sealed.has(name);
    const owner = sealed ? {} : { ownerRegion: here };
    return { tail, upToDate: true, sealed, ...owner, cost: costOf(1) };
  }

  async showLedger(id: LedgerId): Promise<LedgerMetadata> {
    this.#failIfTold();
    if (id === fakeLedgerId) return this.#ledger;
    throw new FencelineError("ledger_not_found", { message: `no ledger ${id}` });
  }

  async regions(): Promise<readonly RegionDescription[]> {
    this.#failIfTold();
    return this.known;
  }

  async setRegionState(name: Region, state: RegionState): Promise<RegionDescription> {
    this.#failIfTold();
    const changed = { ...this.#region(name), state };
    this.known = this.known.map((one) => (one.region === name ? changed : one));
    return changed;
  }

  async setBookieState(name: Region, id: BookieId, state: BookieState) {
    this.#failIfTold();
    const found = this.#region(name);
    const bookie = found.bookies.find((one) => one.id === id);
    if (bookie === undefined) throw new FencelineError("bookie_not_found", { message: `no bookie ${id}` });
    const changed = { ...bookie, state };
    const bookies = found.bookies.map((one) => (one.id === id ? changed : one));
    this.known = this.known.map((one) => (one.region === name ? { ...one, bookies } : one));
    return changed;
  }

  #region(name: Region): RegionDescription {
    const found = this.known.find((one) => one.region === name);
    if (found !== undefined) return found;
    throw new FencelineError("region_not_found", { message: `no region ${name}` });
  }

  #find(name: LogName): FakeLog {
    const log = this.logs.get(name);
    if (log !== undefined) return log;
    throw new FencelineError("log_not_found", { message: `there is no log ${name}; create it with PUT` });
  }

  #failIfTold(): void {
    const failure = this.failure;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}

/** Where a read begins that names no seq_num. */
function startIn(records: readonly LogRecord[], from: ReadRequest["from"]): number {
  if (typeof from === "number") return from;
  if (from.kind === "tail-offset") return Math.max(0, records.length - from.count);
  const isThere = (record: LogRecord) =>
    from.kind === "dlsn" ? compareDlsn(record.dlsn, from.dlsn) >= 0 : record.timestampMs >= from.timestampMs;
  const found = records.findIndex(isThere);
  return found < 0 ? records.length : found;
}
