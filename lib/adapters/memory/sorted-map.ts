/**
 * A map of strings that can also be walked in key order, by code unit. Keys are sorted when somebody walks,
 * not when they are set: most stores are written far more often than listed.
 */
interface Range {
  /** Keys >= this one. */
  readonly from?: string;
  /** Keys > this one. */
  readonly after?: string;
  /** Keys <= this one. */
  readonly to?: string;
  /** Keys < this one. */
  readonly before?: string;
}

/** New keys up to this share of the sorted ones are put among them one by one; more are sorted with them. */
const INSERT_ONE_BY_ONE_SHARE = 0.1;

export class SortedMap<V> {
  readonly #values = new Map<string, V>();
  /** Every key that was there at the last walk; some may be deleted since. */
  #sorted: string[] = [];
  /** Keys set since then that `#sorted` does not hold. */
  #unsorted = new Set<string>();
  #deleted = new Set<string>();

  get size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    if (!this.#values.has(key) && !this.#deleted.delete(key)) this.#unsorted.add(key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key) && !this.#unsorted.delete(key)) this.#deleted.add(key);
  }

  /** The range's entries, lowest key first or last, as they are when the walk meets them. */
  *walk(range: Range, order: "ascending" | "descending"): Generator<[key: string, value: V]> {
    this.#sort();
    const keys = this.#sorted;
    const start = Math.max(lowerBound(keys, range.from ?? ""), upperBound(keys, range.after));
    const end = Math.min(
      range.to === undefined ? keys.length : upperBound(keys, range.to),
      range.before === undefined ? keys.length : lowerBound(keys, range.before),
    );
    const step = order === "ascending" ? 1 : -1;
    for (let index = step > 0 ? start : end - 1; index >= start && index < end; index += step) {
      const key = keys[index];
      const value = key === undefined ? undefined : this.#values.get(key);
      if (key !== undefined && value !== undefined) yield [key, value];
    }
  }

  #sort(): void {
    if (this.#deleted.size > 0) {
      this.#sorted = this.#sorted.filter((key) => !this.#deleted.has(key));
      this.#deleted.clear();
    }
    if (this.#unsorted.size > this.#sorted.length * INSERT_ONE_BY_ONE_SHARE) {
      // Sorted runs are what the host's sort is quick at, so sorting all is a merge.
      this.#sorted = this.#sorted.concat([...this.#unsorted].sort(byCodeUnit)).sort(byCodeUnit);
    } else {
      for (const key of this.#unsorted) this.#sorted.splice(lowerBound(this.#sorted, key), 0, key);
    }
    this.#unsorted.clear();
  }
}

/** The default order of `sort`, and of `<`, said out loud. */
function byCodeUnit(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Index of the first key >= `bound`. */
function lowerBound(keys: readonly string[], bound: string): number {
  return firstIndex(keys, (key) => key >= bound);
}

/** Index of the first key > `bound`; 0 without a bound. */
function upperBound(keys: readonly string[], bound: string | undefined): number {
  return bound === undefined ? 0 : firstIndex(keys, (key) => key > bound);
}

function firstIndex(keys: readonly string[], isBehind: (key: string) => boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBehind(keys[middle] ?? "")) high = middle;
    else low = middle + 1;
  }
  return low;
}
