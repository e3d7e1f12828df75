/**
 * What a replica of a table answers that lags: rows as they were a moment ago. It learns of writes as they
 * pass, so all clients of a table must share one. Rows that were deleted since come back by their key alone,
 * which is less than a replica may do and never more.
 */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";

export type Item = Readonly<Record<string, AttributeValue>>;

interface Change {
  readonly atMs: number;
  readonly before: Item | undefined;
}

/** What a read of a row, or of several, answers with. */
export interface ReadAnswer {
  readonly Count?: number | undefined;
  readonly Item?: Item | undefined;
  readonly Items?: readonly Item[] | undefined;
}

export class LaggingRows {
  readonly #now = new Map<string, Item | undefined>();
  readonly #changes = new Map<string, Change[]>();

  constructor(private readonly lagMs: number) {}

  /** A put or a removal that took effect. */
  changed(table: string, key: Item, item: Item | undefined): void {
    const row = rowOf(table, key);
    const changes = this.#changes.get(row) ?? [];
    changes.push({ atMs: performance.now(), before: this.#now.get(row) });
    this.#changes.set(row, changes);
    this.#now.set(row, item);
  }

  /** What of the answer was otherwise; undefined if nothing in it has changed since. */
  older(table: string, key: Item | undefined, answer: ReadAnswer): ReadAnswer | undefined {
    if (key !== undefined) {
      const change = this.#firstSince(table, key);
      return change === undefined ? undefined : { Item: change.before };
    }
    let isOlder = false;
    const items = (answer.Items ?? []).flatMap((item) => {
      const change = this.#firstSince(table, item);
      if (change === undefined) return [item];
      isOlder = true;
      return change.before === undefined ? [] : [change.before];
    });
    return isOlder ? { Items: items, Count: items.length } : undefined;
  }

  #firstSince(table: string, key: Item): Change | undefined {
    const sinceMs = performance.now() - this.lagMs;
    return this.#changes.get(rowOf(table, key))?.find(({ atMs }) => atMs > sinceMs);
  }
}

function rowOf(table: string, { pk, sk }: Item): string {
  return JSON.stringify([table, pk?.S, sk?.S]);
}
