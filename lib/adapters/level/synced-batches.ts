/**
 * Group commit: decisions are made one after the other, each on what is stored and on what those before it
 * decided; then all of them are flushed as one synced batch, and only then answered.
 *
 * SB1 No decision is answered before a synced batch holds everything it was made on.
 * SB2 A batch begins only when the one before it is on disk, so what is stored is always the whole truth
 *     about earlier batches. The process that holds the directory's lock is the only one to write.
 * SB3 After a failed flush nothing is written any more: LevelDB's log may end in a torn record, and what
 *     follows one can be lost when the directory is next opened, acknowledged or not. Reads go on.
 */

import { sameBytes } from "../../protocol/entry.ts";
import { unavailable } from "../../protocol/errors.ts";
import { checked, withCheck } from "./checked-value.ts";
import { type LevelDatabase, levelFailure } from "./level-database.ts";

/** Decisions in one batch, at most, since all they are made on is in memory; and bytes that fill a batch. */
const BATCH_DECISIONS_MAX = 256;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

/** What becomes of the key. `keep` writes nothing. */
type Change =
  | { readonly kind: "put"; readonly value: Uint8Array }
  | { readonly kind: "delete" }
  | { readonly kind: "keep" };

interface Decision<T> {
  readonly change: Change;
  readonly answer: T;
}

/** Pure; what it throws goes to its caller alone, and nothing is written for it. */
export type Decide<T> = (current: Uint8Array | undefined) => Decision<T>;

interface Waiting {
  readonly key: string;
  readonly decide: Decide<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class SyncedBatches {
  readonly #database: LevelDatabase;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #failure: unknown;
  #closed = false;

  constructor(database: LevelDatabase) {
    this.#database = database;
  }

  /** Resolves to the decision's answer when its batch is on disk. */
  submit<T>(key: string, decide: Decide<T>): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable(`${this.#database.location} is closed`, "none"));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ key, decide, resolve: (answer) => resolve(answer as T), reject });
      this.#running ??= this.#run();
    });
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    let bytes: Uint8Array | undefined;
    try {
      bytes = await this.#database.get(key);
    } catch (error) {
      throw levelFailure(`${this.#database.location} could not be read`, error, "none");
    }
    return bytes === undefined ? undefined : checked(key, bytes);
  }

  /** Answers what was submitted, refuses what comes later, and gives the directory back. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#database.close();
  }

  async #run(): Promise<void> {
    // Whatever is submitted in the same turn joins the first batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#flushNext();
    this.#running = undefined;
  }

  async #flushNext(): Promise<void> {
    const taken = this.#waiting.splice(0, BATCH_DECISIONS_MAX);
    let stored: Map<string, Uint8Array | undefined>;
    try {
      this.#assertWritable();
      stored = await this.#load(taken);
    } catch (error) {
      for (const waiting of taken) waiting.reject(error);
      return;
    }
    const batch = new Batch(stored);
    const decided = taken.findIndex((waiting) => !batch.decide(waiting));
    if (decided >= 0) this.#waiting.unshift(...taken.slice(decided));
    try {
      await batch.flush(this.#database);
    } catch (error) {
      this.#failure = error;
      batch.reject(levelFailure(`${this.#database.location} could not be written`, error, "possible"));
      return;
    }
    batch.resolve();
  }

  #assertWritable(): void {
    if (this.#failure === undefined) return;
    const what = "takes no more writes since one failed; mend the disk and start again";
    throw levelFailure(`${this.#database.location} ${what}`, this.#failure, "none");
  }

  async #load(taken: readonly Waiting[]): Promise<Map<string, Uint8Array | undefined>> {
    const keys = [...new Set(taken.map((waiting) => waiting.key))];
    try {
      const values = await this.#database.getMany(keys);
      return new Map(keys.map((key, index) => [key, values[index]]));
    } catch (error) {
      throw levelFailure(`${this.#database.location} could not be read`, error, "none");
    }
  }
}

/** Decisions that are flushed together. */
class Batch {
  /** What the keys hold after the decisions so far, with their checksums. */
  readonly #values: Map<string, Uint8Array | undefined>;
  readonly #changed = new Set<string>();
  readonly #answers: { readonly waiting: Waiting; readonly answer: unknown }[] = [];
  #bytes = 0;

  constructor(stored: Map<string, Uint8Array | undefined>) {
    this.#values = stored;
  }

  /** False if the batch is full and the decision was not made. */
  decide(waiting: Waiting): boolean {
    if (this.#bytes >= BATCH_BYTES_MAX) return false;
    const { key } = waiting;
    try {
      const bytes = this.#values.get(key);
      const decision = waiting.decide(bytes === undefined ? undefined : checked(key, bytes));
      this.#apply(key, decision.change);
      this.#answers.push({ waiting, answer: decision.answer });
    } catch (error) {
      waiting.reject(error);
    }
    return true;
  }

  async flush(database: LevelDatabase): Promise<void> {
    const operations = [...this.#changed].map((key) => {
      const value = this.#values.get(key);
      return value === undefined ? ({ type: "del", key } as const) : ({ type: "put", key, value } as const);
    });
    if (operations.length > 0) await database.batch(operations, { sync: true });
  }

  resolve(): void {
    for (const { waiting, answer } of this.#answers) waiting.resolve(answer);
  }

  reject(error: unknown): void {
    for (const { waiting } of this.#answers) waiting.reject(error);
  }

  #apply(key: string, change: Change): void {
    switch (change.kind) {
      case "keep":
        return;
      case "delete":
        this.#values.set(key, undefined);
        this.#changed.add(key);
        return;
      case "put": {
        const bytes = withCheck(key, change.value);
        const current = this.#values.get(key);
        // The same again, such as a fence put by each recovery read, is there already and needs no flush.
        if (current !== undefined && sameBytes(current, bytes)) return;
        this.#values.set(key, bytes);
        this.#changed.add(key);
        this.#bytes += bytes.length;
        return;
      }
    }
  }
}
