/**
 * What the `read` function of a region does: `ReadOperations`. Nothing here writes, save through the
 * settler.
 */
import { AssertionError } from "../assert.ts";
import { FencelineError, unavailable, withSideEffects } from "../errors.ts";
import type { LedgerId, LogName } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import { type ReadCost, ReadCounters } from "../reads/read-counters.ts";
import { readItem } from "../update-item.ts";
import { throwIfAborted, type Wanted } from "../waiting.ts";
import { describe } from "./catalogue/create-log.ts";
import { findLog, LogNames, listLogs } from "./catalogue/log-names.ts";
import { allItems, lastItem, ownershipOf } from "./chain/segments.ts";
import type { Settler } from "./log-ports.ts";
import type { LogRef } from "./log-ref.ts";
import type {
  ListLogsRequest,
  LogDescription,
  LogPage,
  Ownership,
  ReadAnswer,
  ReadOperations,
  ReadRequest,
  SegmentDescription,
  TailAnswer,
} from "./operations.ts";
import { KnownLedgers } from "./reading/known-ledgers.ts";
import { findTail, type ReaderPorts, readRecords } from "./reading/log-reader.ts";
import { seek } from "./reading/seek.ts";

export class LogReads implements ReadOperations {
  readonly #ports: ReaderPorts;
  readonly #names: LogNames;

  constructor(ports: LedgerPorts, settler: Settler) {
    this.#ports = { ...ports, known: new KnownLedgers(ports), settler };
    this.#names = new LogNames(ports.metadata);
  }

  read(request: ReadRequest): Promise<ReadAnswer> {
    checkRead(request);
    return withoutEffects(() =>
      this.#names.with(request.log, (log) =>
        this.#costed(log, async (cost) => {
          const { from: given, consistency, signal } = request;
          const ports = this.#until(signal);
          const from =
            typeof given === "number" ? given : await seek(ports, log, given, consistency, cost, signal);
          return await readRecords(ports, log, { ...request, from }, cost);
        }),
      ),
    );
  }

  tail(name: LogName, consistency: "strong" | "local", signal?: Wanted): Promise<TailAnswer> {
    return withoutEffects(() =>
      this.#names.with(name, (log) =>
        this.#costed(log, async (cost) => {
          const end = await findTail(this.#until(signal), log, consistency, cost, signal);
          const { tail, upToDate, sealed, segment } = end;
          const owner = segment === undefined ? {} : { ownerRegion: segment.item.ownerRegion };
          return { tail, upToDate, sealed, ...owner };
        }),
      ),
    );
  }

  /** Ports that ask the metadata nothing more once the operation's signal is aborted. */
  #until(signal: Wanted | undefined): ReaderPorts {
    if (signal === undefined) return this.#ports;
    const { metadata } = this.#ports;
    const asked = async <T>(ask: () => Promise<T>) => {
      throwIfAborted(signal, "metadata");
      return await ask();
    };
    return {
      ...this.#ports,
      metadata: {
        get: (key, consistency) => asked(() => metadata.get(key, consistency)),
        query: (query, consistency) => asked(() => metadata.query(query, consistency)),
        write: (...given) => metadata.write(...given),
        remove: (...given) => metadata.remove(...given),
      },
    };
  }

  /** Counts what a read asks of bookies and reports it to the trace, also of a read that fails. */
  async #costed<T extends object>(
    { incarnation: log }: LogRef,
    read: (cost: ReadCounters) => Promise<T>,
  ): Promise<T & { readonly cost: ReadCost }> {
    const { clock, trace } = this.#ports;
    const counters = new ReadCounters();
    const startedMs = clock.monotonicMs();
    const elapsedMs = () => clock.monotonicMs() - startedMs;
    try {
      return { ...(await read(counters)), cost: { counters, elapsedMs: elapsedMs() } };
    } finally {
      const { reads, attempts, hedges, crossRegionHedges, failovers, wins } = counters;
      const counts = { reads, attempts, hedges, crossRegionHedges, failovers };
      trace.emit({ event: "log-read", log, ...counts, wins: [...wins], elapsedMs: elapsedMs() });
    }
  }

  owner(name: LogName, signal?: Wanted): Promise<Ownership> {
    return withoutEffects(async () => {
      const ports = this.#until(signal);
      const log = await findLog(ports.metadata, name, "consistent");
      const ownership = await ownershipOf(ports, log);
      const { preferredRegion: preferred } = log;
      return preferred === undefined ? ownership : { ...ownership, preferred };
    });
  }

  describeLog(name: LogName, signal?: Wanted): Promise<LogDescription> {
    return withoutEffects(async () => {
      const { metadata } = this.#until(signal);
      const item = await findLog(metadata, name, "consistent");
      const last = await lastItem(metadata, item.incarnation, "consistent");
      return { ...describe(item), ...(last?.kind === "end" ? { state: "sealed" } : {}) };
    });
  }

  listLogs(request: ListLogsRequest, signal?: Wanted): Promise<LogPage> {
    return withoutEffects(() => listLogs(this.#until(signal).metadata, request));
  }

  segments(name: LogName, signal?: Wanted): Promise<readonly SegmentDescription[]> {
    return withoutEffects(async () => {
      const { metadata } = this.#until(signal);
      // A remembered life would do no harm where its end is met on the way; a list of nothing meets none.
      const { incarnation: log } = await findLog(metadata, name, "consistent");
      const items = await allItems(metadata, log, "consistent");
      return items.flatMap((one) => (one.kind === "end" ? [] : [{ ...one.item, firstSeqNum: one.first }]));
    });
  }

  showLedger(id: LedgerId): Promise<LedgerMetadata> {
    return withoutEffects(async () => {
      const ledger = await readItem(this.#ports.metadata, ledgerKey(id), "ledger");
      if (ledger !== undefined) return ledger;
      const message = `there is no ledger ${id}; take an id from the log's segments`;
      throw new FencelineError("ledger_not_found", { message });
    });
  }
}

function checkRead({ from, limit, bytesMax = limits.readBytesMax }: ReadRequest): void {
  const range = (name: string, value: number, least: number, most: number) => {
    if (Number.isSafeInteger(value) && value >= least && value <= most) return;
    throw new FencelineError("invalid_request", {
      message: `${name} is an integer from ${least} to ${most}, got ${value}`,
      details: { errors: [{ pointer: name, detail: `from ${least} to ${most}` }] },
    });
  };
  if (typeof from === "number") range("from", from, 0, Number.MAX_SAFE_INTEGER);
  else if (from.kind === "timestamp") range("timestamp", from.timestampMs, 0, Number.MAX_SAFE_INTEGER);
  else if (from.kind === "tail-offset") range("tail_offset", from.count, 0, Number.MAX_SAFE_INTEGER);
  range("limit", limit, 1, limits.readRecordsMax);
  range("bytesMax", bytesMax, 1, limits.readBytesMax);
}

/** A read that fails has done nothing, whatever the port that failed it says of its calls. */
async function withoutEffects<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    if (!(error instanceof FencelineError)) {
      throw unavailable(error instanceof Error ? error.message : String(error), "none", error);
    }
    throw error.sideEffects === "none" ? error : withSideEffects(error, "none");
  }
}
