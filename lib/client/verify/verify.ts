/**
 * A workload whose history is checked: appenders in all regions, each with one append under way, and behind
 * every acknowledgement a strong read in another region. Each appender is a producer: whatever becomes of an
 * answer, it sends the same record again, in another region too, until it is acknowledged. Without producers
 * an attempt that may have had an effect ends its record's turn, and one that had none is followed by another
 * with a body of its own.
 */
import type { AppendJson } from "../../api/append-wire.ts";
import { GatewayError, ProblemError, RequestError } from "../client-errors.ts";
import type { LogClient } from "../log-client.ts";
import { OwnerClient } from "../owner-client.ts";
import { readRange } from "../read-range.ts";
import { type Patience, retrying, sleep } from "../retry.ts";
import type { Attempt, FinalRecord, History, Outcome, StrongRead } from "./history.ts";
import { reportOf, type VerifyBounds, type VerifyReport } from "./report.ts";

export interface VerifyFields extends VerifyBounds {
  /** One client for each region that takes part. */
  readonly clients: readonly LogClient[];
  /** Begins the names of the logs; they are created if they are not there, and have to be empty. */
  readonly prefix: string;
  readonly appenders: number;
  readonly logs: number;
  readonly durationMs: number;
  /** Bytes of a record's body, at least as many as name it. */
  readonly recordBytes: number;
  /** Appenders go to the owner themselves, as an SDK does, in place of having appends forwarded. */
  readonly followOwner: boolean;
  /** Appends without producers, which nobody may repeat. */
  readonly plain: boolean;
  /** How long set-up and the final reading try again. */
  readonly patienceMs: number;
  /** Gets requests of theirs that are tried again. */
  readonly onRetry?: Patience["onRetry"];
  /** Called when the logs are there and the appenders begin. */
  readonly onStart?: () => void;
  readonly signal?: AbortSignal;
}

/** Pause after an attempt without effect, unless the answer names one. */
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 1_000;
/** After which an appender goes on while its strong read is still under way. */
const READ_WAIT_MS = 500;

export async function verify(fields: VerifyFields): Promise<VerifyReport> {
  const run = new Verification(fields);
  return reportOf(await run.history(), fields);
}

export const verifyLogName = (prefix: string, index: number): string => `${prefix}-${index}`;

class Verification {
  readonly #attempts: Attempt[] = [];
  readonly #reads: StrongRead[] = [];
  #readsFailed = 0;
  readonly #readsPending = new Set<Promise<void>>();
  #endMs = Number.POSITIVE_INFINITY;
  readonly #logs: readonly string[];
  readonly #patience: Patience;

  constructor(private readonly fields: VerifyFields) {
    const { prefix, logs, patienceMs, signal, onRetry } = fields;
    this.#logs = Array.from({ length: logs }, (_, index) => verifyLogName(prefix, index));
    this.#patience = { patienceMs, signal, onRetry };
  }

  async history(): Promise<History> {
    const { clients, appenders, durationMs, signal } = this.fields;
    await inBatches(this.#logs, (log, index) =>
      retrying(this.#patience, at(clients, index), (bounded) => bounded.createLog(log, {})),
    );
    const regions = this.fields.followOwner ? await regionsOf(clients) : new Map<string, LogClient>();
    this.fields.onStart?.();
    const startMs = performance.now();
    this.#endMs = startMs + durationMs;
    const all = Array.from({ length: appenders }, (_, appender) => this.#append(appender, regions));
    await Promise.all(all);
    const endMs = signal?.aborted ? performance.now() : this.#endMs;
    if (!signal?.aborted) await Promise.all(this.#readsPending);
    const logs = new Map<string, readonly FinalRecord[]>();
    await inBatches(this.#logs, async (log, index) => {
      logs.set(log, await this.#readAll(log, at(clients, index)));
    });
    const [attempts, reads, readsFailed] = [this.#attempts, this.#reads, this.#readsFailed];
    return { startMs, endMs, attempts, reads, readsFailed, logs };
  }

  get #isOver(): boolean {
    return performance.now() >= this.#endMs || this.fields.signal?.aborted === true;
  }

  /** One appender until time is up. One that is refused at its own region's door tries the next one. */
  async #append(appender: number, regions: ReadonlyMap<string, LogClient>): Promise<void> {
    const { clients } = this.fields;
    const log = at(this.#logs, appender);
    const homes = clients.map((client) => new OwnerClient(client, regions));
    let home = appender;
    let pauseMs = PAUSE_MS;
    for (let turn = 0; !this.#isOver; turn++) {
      for (let attempt = 0; !this.#isOver; attempt++) {
        const batch = this.#batchOf(appender, turn, attempt);
        const body = batch.records[0]?.body ?? "";
        const startMs = performance.now();
        const { outcome, waitMs } = await outcomeOf(at(homes, home).append(log, batch, "utf8"));
        this.#attempts.push({ log, body, appender, turn, startMs, endMs: performance.now(), outcome });
        if (outcome.kind === "acknowledged") {
          pauseMs = PAUSE_MS;
          await this.#soon(this.#readElsewhere(log, outcome.seqNum, body, home));
          break;
        }
        if (isUnserved(outcome.code)) home += 1;
        await sleep(Math.max(waitMs, pauseMs * (0.5 + Math.random() / 2)), this.fields.signal);
        pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2);
        if (outcome.kind === "unknown" && this.fields.plain) break;
      }
    }
  }

  /** Waits for the read, unless it takes long: a region that hangs holds up no appender of another one. */
  async #soon(read: Promise<void>): Promise<void> {
    const pending = read.finally(() => this.#readsPending.delete(pending));
    this.#readsPending.add(pending);
    const waiting = new AbortController();
    await Promise.race([pending, sleep(READ_WAIT_MS, waiting.signal)]);
    waiting.abort();
  }

  #batchOf(appender: number, turn: number, attempt: number): AppendJson {
    if (this.fields.plain) return { records: [{ body: this.#bodyOf(appender, turn, attempt) }] };
    const producer = { id: `${this.fields.prefix}-a${appender}`, epoch: 0, seq: turn };
    return { records: [{ body: this.#bodyOf(appender, turn, 0) }], producer };
  }

  #bodyOf(appender: number, turn: number, attempt: number): string {
    return `a${appender}.${turn}.${attempt}`.padEnd(this.fields.recordBytes, "~");
  }

  async #readElsewhere(log: string, seqNum: number, wanted: string, home: number): Promise<void> {
    const { clients } = this.fields;
    const other = home + 1 + Math.floor(Math.random() * Math.max(1, clients.length - 1));
    const client = at(clients, other);
    try {
      const { records } = await client.read(log, { from: seqNum, count: 1, consistency: "strong" });
      const found = records.find((record) => record.seq_num === seqNum)?.body ?? "nothing";
      this.#reads.push({ log, seqNum, wanted, found, endpoint: client.endpoint });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      // Only an answer that denies the record says anything.
      if (!(error instanceof ProblemError) || !DENIALS.has(error.code)) this.#readsFailed += 1;
      else this.#reads.push({ log, seqNum, wanted, found: "nothing", endpoint: client.endpoint });
    }
  }

  /** Up to a tail that is certain. */
  async #readAll(log: string, client: LogClient): Promise<FinalRecord[]> {
    const { tail } = await retrying(this.#patience, client, (bounded) => bounded.tail(log, "strong"));
    const records: FinalRecord[] = [];
    for await (const page of readRange(client, { log, from: 0, end: tail }, this.#patience)) {
      for (const { seq_num: seqNum, dlsn, timestamp: timestampMs, body } of page) {
        records.push({ seqNum, dlsn, timestampMs, body: new TextDecoder().decode(bytesOf(body)) });
      }
    }
    return records;
  }
}

const DENIALS: ReadonlySet<string> = new Set(["position_unwritten", "position_trimmed", "log_not_found"]);

interface Answered {
  readonly outcome: Outcome;
  /** As the answer asks for. */
  readonly waitMs: number;
}

async function outcomeOf(append: ReturnType<OwnerClient["append"]>): Promise<Answered> {
  try {
    const { start } = await append;
    return { outcome: { kind: "acknowledged", seqNum: start.seq_num, dlsn: start.dlsn }, waitMs: 0 };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const kind = error.sideEffects === "none" ? "refused" : "unknown";
    return {
      outcome: { kind, code: codeOf(error) },
      waitMs: Math.min(error.retryAfterMs ?? 0, PAUSE_MS_MAX),
    };
  }
}

function codeOf(error: RequestError): string {
  if (error instanceof ProblemError) return error.code;
  return error instanceof GatewayError ? `gateway_${error.status}` : "no_answer";
}

/** No region answered, so another one may. */
function isUnserved(code: string): boolean {
  return code === "no_answer" || code.startsWith("gateway_");
}

async function regionsOf(clients: readonly LogClient[]): Promise<Map<string, LogClient>> {
  const named = await Promise.all(clients.map(async (client) => [await client.region(), client] as const));
  return new Map(named);
}

const AT_ONCE = 8;

async function inBatches<T>(
  all: readonly T[],
  work: (one: T, index: number) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < all.length; start += AT_ONCE) {
    const some = all.slice(start, start + AT_ONCE);
    await Promise.all(some.map((one, index) => work(one, start + index)));
  }
}

/** Round and round. */
function at<T>(all: readonly T[], index: number): T {
  return all[index % all.length] as T;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
