/**
 * The HTTP surface as typed calls, one request each. Nothing is sent twice here: the caller alone knows
 * whether a repetition is safe. Names that would make the path of another request are not sent: NotSentError.
 */
import type { AppendAckJson, AppendJson } from "../api/append-wire.ts";
import type { DeletedJson, SealedJson, TrimmedJson } from "../api/log-end-wire.ts";
import type { OwnershipJson } from "../api/owner-wire.ts";
import type {
  BookieJson,
  BookieStateJson,
  RegionJson,
  RegionListJson,
  RegionStateJson,
} from "../api/region-wire.ts";
import type {
  CreatedLogJson,
  CreateLogJson,
  LedgerJson,
  LogJson,
  LogPageJson,
  ReadAnswerJson,
  SegmentListJson,
  TailJson,
} from "../api/wire.ts";
import { NotSentError } from "./client-errors.ts";
import { endpointFault } from "./endpoint.ts";
import { type ExchangeOptions, exchange } from "./http-exchange.ts";
import {
  type Answered,
  bookiePath,
  ledgerPath,
  logPath,
  type RequestFields,
  regionPath,
  type WireFormat,
} from "./http-words.ts";

export interface LogClientOptions extends Omit<ExchangeOptions, "timeoutMs"> {
  /** Wait for a whole answer. An append is given longer than the server gives itself. */
  readonly timeoutMs?: number;
}

export type Consistency = "strong" | "local";

/** Where a read begins: a seq_num, or what else the surface knows to find. */
export type ReadFrom =
  | number
  | { readonly dlsn: string }
  | { readonly timestamp: number }
  | { readonly tail_offset: number };

export interface ReadOptions {
  readonly from: ReadFrom;
  readonly count?: number;
  readonly consistency?: Consistency;
  readonly format?: WireFormat;
}

const TIMEOUT_MS = 30_000;

export class LogClient {
  readonly endpoint: string;
  readonly #timeoutMs: number;

  /** Throws NotSentError if the endpoint can be none. */
  constructor(private readonly options: LogClientOptions) {
    const fault = endpointFault(options.endpoint);
    if (fault !== undefined) throw new NotSentError(`the endpoint ${fault}`);
    this.endpoint = options.endpoint.replace(/\/+$/, "");
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** The same endpoint, with at most so long a wait for a whole answer. */
  within(timeoutMs: number): LogClient {
    return new LogClient({ ...this.options, timeoutMs: Math.min(this.#timeoutMs, timeoutMs) });
  }

  /** The same, asking what reads cost. `onTiming` gets each answer's `Server-Timing`. */
  telling(onTiming: (serverTiming: string) => void): LogClient {
    return new LogClient({ ...this.options, onTiming });
  }

  async createLog(log: string, config: CreateLogJson): Promise<{ created: boolean; log: CreatedLogJson }> {
    const request = { method: "PUT", path: logPath(log), body: config, has: "log" } as const;
    const { status, json } = await this.#send<CreatedLogJson>(request);
    return { created: status === 201, log: json };
  }

  async describeLog(log: string): Promise<LogJson> {
    return this.#get("log", logPath(log));
  }

  listLogs(query: { prefix: string; start_after?: string; limit?: number }): Promise<LogPageJson> {
    return this.#get("logs", "/v1/logs", query);
  }

  async segments(log: string): Promise<SegmentListJson> {
    return this.#get("segments", logPath(log, "/segments"));
  }

  /** One attempt. After a failure with side effects "possible" the batch may be in the log, now or later. */
  async append(log: string, batch: AppendJson, format: WireFormat): Promise<AppendAckJson> {
    return (await this.appendAt(log, batch, format, {})).ack;
  }

  /** The same, with what it taught about the log's owner; `prefer: "no-forward"` is refused elsewhere. */
  async appendAt(
    log: string,
    batch: AppendJson,
    format: WireFormat,
    preference: { readonly prefer?: "no-forward" },
  ): Promise<{ readonly ack: AppendAckJson; readonly owner: string | undefined }> {
    const path = logPath(log, "/records");
    const request = { method: "POST", path, body: batch, format, has: "end", ...preference } as const;
    const { json, owner } = await this.#send<AppendAckJson>(request);
    return { ack: json, owner };
  }

  /** The region that answers here, whether it serves or not. */
  async region(): Promise<string> {
    const request = { method: "GET", path: "/v1/health", answers: 503, has: "region" } as const;
    return (await this.#send<{ readonly region: string }>(request)).json.region;
  }

  async read(log: string, { from, count, consistency, format }: ReadOptions): Promise<ReadAnswerJson> {
    const query = { ...(typeof from === "number" ? { seq_num: from } : from), count, consistency };
    const path = logPath(log, "/records");
    return (await this.#send<ReadAnswerJson>({ method: "GET", path, query, format, has: "records" })).json;
  }

  async tail(log: string, consistency: Consistency = "strong"): Promise<TailJson> {
    return this.#get("tail", logPath(log, "/records/tail"), { consistency });
  }

  /** Safe to repeat: it goes forward only. */
  async trim(log: string, to: number): Promise<TrimmedJson> {
    const request = {
      method: "POST",
      path: logPath(log, "/trim"),
      body: { seq_num: to },
      has: "first_seq_num",
    } as const;
    return (await this.#send<TrimmedJson>(request)).json;
  }

  /** Safe to repeat: a sealed log stays as it is. */
  async seal(log: string): Promise<SealedJson> {
    return (await this.#send<SealedJson>({ method: "POST", path: logPath(log, "/seal"), has: "tail" })).json;
  }

  /** Safe to repeat with an incarnation only: the name may have been given to another log meanwhile. */
  async deleteLog(log: string, incarnation?: string): Promise<DeletedJson> {
    const query = { incarnation };
    return (await this.#send<DeletedJson>({ method: "DELETE", path: logPath(log), query, has: "state" }))
      .json;
  }

  async owner(log: string): Promise<OwnershipJson> {
    return this.#get("log", logPath(log, "/owner"));
  }

  /** Safe to repeat: a log that the region owns stays as it is. */
  async transferOwner(log: string, region: string): Promise<OwnershipJson> {
    const path = logPath(log, "/owner/transfer");
    const request = { method: "POST", path, body: { region }, has: "log" } as const;
    return (await this.#send<OwnershipJson>(request)).json;
  }

  /** Safe to repeat. Null: anywhere. */
  async preferRegion(log: string, region: string | null): Promise<LogJson> {
    return this.#patch<LogJson>("log", logPath(log), { preferred_region: region });
  }

  async showLedger(id: string): Promise<LedgerJson> {
    return this.#get("ledger_id", ledgerPath(id));
  }

  /** Safe to repeat: a closed ledger stays as it is. */
  async recoverLedger(id: string): Promise<LedgerJson> {
    return (
      await this.#send<LedgerJson>({ method: "POST", path: ledgerPath(id, "/recover"), has: "ledger_id" })
    ).json;
  }

  regions(): Promise<RegionListJson> {
    return this.#get("regions", "/v1/regions");
  }

  /** Safe to repeat, as is the same of a bookie. */
  async setRegionState(region: string, state: RegionStateJson): Promise<RegionJson> {
    return await this.#patch<RegionJson>("region", regionPath(region), { state });
  }

  async setBookieState(region: string, bookie: string, state: BookieStateJson): Promise<BookieJson> {
    return await this.#patch<BookieJson>("bookie", bookiePath(region, bookie), { state });
  }

  async #patch<T>(has: string, path: string, body: unknown): Promise<T> {
    return (await this.#send<T>({ method: "PATCH", path, body, has })).json;
  }

  async #get<T>(has: string, path: string, query: RequestFields["query"] = {}): Promise<T> {
    return (await this.#send<T>({ method: "GET", path, query, has })).json;
  }

  #send<T>(request: RequestFields): Promise<Answered<T>> {
    return exchange({ ...this.options, endpoint: this.endpoint, timeoutMs: this.#timeoutMs }, request);
  }
}
