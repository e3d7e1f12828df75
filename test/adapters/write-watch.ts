/** Watches what is written to LevelDB, at the last place before the native code, and whether it is synced. */
import { ClassicLevel } from "classic-level";

/** The methods under the public ones; every public write ends in one of them. */
const writing = ["_put", "_del", "_batch", "_chainedBatch", "_clear"] as const;
type Writing = (typeof writing)[number];
type Method = (...args: unknown[]) => unknown;

export class WriteWatch implements Disposable {
  /** How each write so far was made. */
  readonly writes: { readonly method: Writing; readonly synced: boolean }[] = [];
  readonly #prototype = ClassicLevel.prototype as unknown as Record<Writing, Method>;
  readonly #originals = writing.map((method) => [method, this.#prototype[method]] as const);

  constructor() {
    const { writes } = this;
    for (const [method, original] of this.#originals) {
      this.#prototype[method] = function (this: unknown, ...args: unknown[]) {
        writes.push({ method, synced: isSynced(args.at(-1)) });
        return original.apply(this, args);
      };
    }
  }

  /** Throws unless something was written, and everything in synced batches. */
  assertSynced(): void {
    if (this.writes.length === 0) throw new Error("nothing was written");
    const unsynced = this.writes.filter(({ method, synced }) => method !== "_batch" || !synced);
    if (unsynced.length > 0) {
      throw new Error(`${unsynced.length} of ${this.writes.length} writes, such as ${unsynced[0]?.method}`);
    }
  }

  [Symbol.dispose](): void {
    for (const [method, original] of this.#originals) this.#prototype[method] = original;
  }
}

function isSynced(options: unknown): boolean {
  return typeof options === "object" && options !== null && "sync" in options && options.sync === true;
}
