/**
 * One region's inbox in a LevelDB directory of its own. Acknowledged means synced; there is one copy, so a
 * stale read sees what a consistent one does.
 *
 *     request#<partition>#<sort>    the time of the write, 8 bytes · a posted append
 *     answer#<address>              the same · an answer
 *     written#<time>#<key>          nothing: names, by time, each key that was written
 *
 * LI1 A key is on disk no earlier than the name that says when it was written, and goes before it: whatever
 *     is there is found by a sweep.
 * LI2 A request is removed only when its answer is on disk (41).
 */
import {
  BEHIND_REQUESTS,
  behindRevision,
  decodeAnswer,
  decodePosted,
  encodeAnswer,
  encodePosted,
  requestPartition,
  requestSort,
  ticketAddress,
  ticketOf,
} from "../../formats/inbox-format.ts";
import { FilledPage } from "../../formats/inbox-page.ts";
import type { Clock } from "../../protocol/deadline.ts";
import { hasCode } from "../../protocol/errors.ts";
import type { LogIncarnation } from "../../protocol/ids.ts";
import type {
  AnsweredTicket,
  InboxAnswer,
  InboxPage,
  InboxQuery,
  InboxRequest,
  InboxStore,
  Ticket,
} from "../../protocol/log/inbox-store.ts";
import { checked } from "./checked-value.ts";
import { type LevelDatabase, levelFailure, openLevelDatabase } from "./level-database.ts";
import { type Decide, SyncedBatches } from "./synced-batches.ts";

type WallClock = Pick<Clock, "nowMs">;

const WRITTEN = "written#";
const TIME_DIGITS = 16;
const TIME_BYTES = 8;
/** Keys that one sweep removes, at most: they share a batch. */
const SWEEP_KEYS_MAX = 200;

export class LevelInboxStore implements InboxStore, AsyncDisposable {
  readonly #database: LevelDatabase;
  readonly #batches: SyncedBatches;
  readonly #clock: WallClock;

  private constructor(database: LevelDatabase, clock: WallClock) {
    this.#database = database;
    this.#batches = new SyncedBatches(database);
    this.#clock = clock;
  }

  /** Opens or makes the store. Throws `unavailable` if the directory is in use or damaged. */
  static async open(directory: string, clock: WallClock): Promise<LevelInboxStore> {
    return new LevelInboxStore(await openLevelDatabase(directory, "inbox-store"), clock);
  }

  async post(log: LogIncarnation, { ticket, append }: InboxRequest): Promise<void> {
    await this.#put(requestKey(log, ticket), encodePosted(append));
  }

  async requests(log: LogIncarnation, query: InboxQuery): Promise<InboxPage> {
    const page = new FilledPage(query);
    const prefix = requestPrefix(log, query);
    try {
      const range = { gt: `${prefix}${behindRevision(query.above)}`, lt: `${prefix}${BEHIND_REQUESTS}` };
      for await (const [key, bytes] of this.#database.iterator(range)) {
        const ticket = ticketOf(query, key.slice(prefix.length));
        if (ticket === undefined) continue;
        if (!page.offer(ticket, () => decodePosted(contentOf(checked(key, bytes))))) return page.end(false);
      }
      return page.end(true);
    } catch (error) {
      throw levelFailure(`${this.#database.location} could not be queried`, error, "none");
    }
  }

  async answer(log: LogIncarnation, answers: readonly AnsweredTicket[]): Promise<readonly Ticket[]> {
    const puts = await Promise.allSettled(
      answers.map(({ ticket, answer }) => this.#put(answerKey(log, ticket), encodeAnswer(answer))),
    );
    const put = answers.flatMap(({ ticket }, index) => (puts[index]?.status === "fulfilled" ? [ticket] : []));
    const failed = puts.find((one) => one.status === "rejected");
    if (put.length === 0 && failed !== undefined) throw failed.reason;
    // LI2. One that stays is found again, which rule 37 expects.
    await Promise.allSettled(put.map((ticket) => this.#batches.submit(requestKey(log, ticket), remove)));
    return put;
  }

  async readAnswer(log: LogIncarnation, ticket: Ticket): Promise<InboxAnswer | undefined> {
    const bytes = await this.#batches.get(answerKey(log, ticket));
    return bytes === undefined ? undefined : decodeAnswer(contentOf(bytes));
  }

  async sweep(beforeMs: number): Promise<number> {
    const end = writtenName(beforeMs, "");
    while (true) {
      const names = await this.#names(end);
      const removed = await Promise.all(
        names.map(async (name) => {
          const key = name.slice(WRITTEN.length + TIME_DIGITS + 1);
          // LI1: submitted in this order, they reach the disk in it.
          const [count] = await Promise.all([
            this.#removeOld(key, beforeMs),
            this.#batches.submit(name, remove),
          ]);
          return count;
        }),
      );
      const sum = removed.reduce((total, count) => total + count, 0);
      if (sum > 0 || names.length < SWEEP_KEYS_MAX) return sum;
    }
  }

  async close(): Promise<void> {
    await this.#batches.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** LI1: submitted in this order, they reach the disk in it. */
  async #put(key: string, content: Uint8Array): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const value = withTime(nowMs, content);
    await Promise.all([
      this.#batches.submit(writtenName(nowMs, key), replaceBy(new Uint8Array(0))),
      this.#batches.submit(key, replaceBy(value)),
    ]);
  }

  async #removeOld(key: string, beforeMs: number): Promise<number> {
    try {
      return await this.#batches.submit(key, removeWrittenBefore(beforeMs));
    } catch (error) {
      // It stays, like every damaged value, and keeps no other one from being removed.
      if (hasCode(error, "data_corrupt")) return 0;
      throw error;
    }
  }

  async #names(end: string): Promise<string[]> {
    try {
      return await this.#database.keys({ gte: WRITTEN, lt: end, limit: SWEEP_KEYS_MAX }).all();
    } catch (error) {
      throw levelFailure(`${this.#database.location} could not be listed`, error, "none");
    }
  }
}

function requestPrefix(log: LogIncarnation, of: Pick<Ticket, "birth" | "tenure">): string {
  return `request#${requestPartition(log, of)}#`;
}

function requestKey(log: LogIncarnation, ticket: Ticket): string {
  return `${requestPrefix(log, ticket)}${requestSort(ticket)}`;
}

function answerKey(log: LogIncarnation, ticket: Ticket): string {
  return `answer#${ticketAddress(log, ticket)}`;
}

function writtenName(atMs: number, key: string): string {
  const time = String(Math.max(0, Math.floor(atMs))).padStart(TIME_DIGITS, "0");
  return `${WRITTEN}${time}#${key}`;
}

const replaceBy =
  (value: Uint8Array): Decide<void> =>
  () => ({ change: { kind: "put", value }, answer: undefined });

const remove: Decide<void> = () => ({ change: { kind: "delete" }, answer: undefined });

/** How many it removes: a key may have gone, or been written again since. */
const removeWrittenBefore =
  (beforeMs: number): Decide<number> =>
  (current) =>
    current !== undefined && writtenAtMs(current) < beforeMs
      ? { change: { kind: "delete" }, answer: 1 }
      : { change: { kind: "keep" }, answer: 0 };

function withTime(atMs: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(TIME_BYTES + content.length);
  new DataView(bytes.buffer).setFloat64(0, atMs);
  bytes.set(content, TIME_BYTES);
  return bytes;
}

function writtenAtMs(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset, value.byteLength).getFloat64(0);
}

function contentOf(value: Uint8Array): Uint8Array {
  return value.subarray(TIME_BYTES);
}
