/**
 * A map of bounded size: an entry too many removes the one that was set longest ago. An entry that is set
 * again counts as the newest: where each use sets its entry, the least recently used one goes.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  constructor(private readonly entriesMax: number) {
    super();
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const oldest = this.keys().next();
    if (this.size > this.entriesMax && oldest.done !== true) this.delete(oldest.value);
    return this;
  }
}
