/**
 * The one read-change-write loop through which all metadata is changed, and the bounds of its calls.
 *
 * UPD1 Each write is conditional on the version that the decision was made on.
 * UPD2 A write whose reply was lost is re-read before anything else. A token of ours in the item says that it
 *      was ours; a foreign one means that the decision is made again on what is there now.
 * UPD3 `decide` is pure: it may be asked any number of times, always on a value just read consistently.
 */
import { assert } from "./assert.ts";
import type { Clock } from "./deadline.ts";
import { notReady, sideEffectsOf, unavailable } from "./errors.ts";
import { newWriteToken, type WriteToken } from "./ids.ts";
import type { Item, ItemKey } from "./items.ts";
import { limits } from "./limits.ts";
import type { MetadataConsistency, MetadataStore, Versioned } from "./ports.ts";
import type { Random } from "./random.ts";
import { withTimeout } from "./waiting.ts";

export interface UpdateOutcome<T extends Item = Item> {
  /** The item as this loop last saw or wrote it. */
  readonly stored: Versioned<T> | undefined;
  /** Whether what is stored was written by this loop. */
  readonly wrote: boolean;
}

export interface UpdatePorts {
  readonly metadata: MetadataStore;
  readonly random: Random;
}

/**
 * Reads the item consistently, asks `decide`, and writes the item that it returns, until a write wins or
 * `decide` returns undefined: what is stored stays. Throws `unavailable` if the store does not answer; side
 * effects are then possible if a write was sent.
 */
export async function updateItem(
  ports: UpdatePorts,
  key: ItemKey,
  decide: (current: Versioned | undefined) => Item | undefined,
): Promise<UpdateOutcome> {
  const sent = new Set<WriteToken>();
  for (let round = 0; round < limits.updateRoundsMax; round++) {
    const current = await read(ports.metadata, key, sent.size > 0);
    if (current !== undefined && sent.has(current.version.token)) return { stored: current, wrote: true };
    const item = decide(current);
    if (item === undefined) return { stored: current, wrote: false };
    const token = newWriteToken(ports.random);
    const answer = await write(ports.metadata, key, current, item, token, sent);
    if (answer !== undefined) return { stored: answer, wrote: true };
  }
  const message = `${key.partition}/${key.sort} changed ${limits.updateRoundsMax} times meanwhile; try again`;
  throw notReady(message, undefined, { sideEffects: sent.size > 0 ? "possible" : "none" });
}

type ItemOf<K extends Item["kind"]> = Extract<Item, { readonly kind: K }>;

/**
 * Changes an item of that kind as `change` says; where that says nothing, and where there is none, it stays.
 */
export async function changeItem<K extends Item["kind"]>(
  ports: UpdatePorts,
  key: ItemKey,
  kind: K,
  change: (item: ItemOf<K>) => ItemOf<K> | undefined,
): Promise<UpdateOutcome<ItemOf<K>>> {
  const { stored, wrote } = await updateItem(ports, key, (current) => {
    const found = ofKind(current, kind);
    return found === undefined ? undefined : change(found.item);
  });
  return { stored: ofKind(stored, kind), wrote };
}

/** Reads an item of that kind; undefined where there is none. Throws what the store throws. */
export async function readItem<K extends Item["kind"]>(
  metadata: MetadataStore,
  key: ItemKey,
  kind: K,
  consistency: MetadataConsistency = "consistent",
): Promise<ItemOf<K> | undefined> {
  return ofKind(await metadata.get(key, consistency), kind)?.item;
}

/** A segment's key may hold an END; every other key holds items of one kind. */
export function ofKind<K extends Item["kind"]>(
  stored: Versioned | undefined,
  kind: K,
): Versioned<ItemOf<K>> | undefined {
  if (stored?.item.kind === kind) return stored as Versioned<ItemOf<K>>;
  assert(stored === undefined || kind === "segment", `${stored?.key.partition} holds no ${kind}`);
  return undefined;
}

/** Removes the item while `mayRemove` says so of what was just read. Absent counts as removed. */
export async function removeItem(
  ports: UpdatePorts,
  key: ItemKey,
  mayRemove: (current: Versioned) => boolean | Promise<boolean>,
): Promise<"removed" | "kept"> {
  let failure: unknown;
  for (let round = 0; round < limits.updateRoundsMax; round++) {
    const current = await read(ports.metadata, key, round > 0);
    if (current === undefined) return "removed";
    if (!(await mayRemove(current))) return "kept";
    try {
      const answer = await ports.metadata.remove(key, current.version);
      if (answer.kind === "removed") return "removed";
    } catch (error) {
      failure = error;
    }
  }
  throw unavailable(`${key.partition}/${key.sort} could not be removed`, "possible", failure);
}

async function read(
  metadata: MetadataStore,
  key: ItemKey,
  wroteBefore: boolean,
): Promise<Versioned | undefined> {
  try {
    return await metadata.get(key, "consistent");
  } catch (error) {
    throw unavailable(
      `metadata ${key.partition} could not be read`,
      wroteBefore ? "possible" : "none",
      error,
    );
  }
}

/** The item as written, or undefined if a rival won or the reply was lost (UPD2: the next round re-reads). */
async function write(
  metadata: MetadataStore,
  key: ItemKey,
  current: Versioned | undefined,
  item: Item,
  token: WriteToken,
  sent: Set<WriteToken>,
): Promise<Versioned | undefined> {
  sent.add(token);
  try {
    const answer = await metadata.write(key, current?.version ?? "absent", item, token);
    if (answer.kind === "written") return { key, item, version: answer.version };
    return undefined;
  } catch (error) {
    if (sideEffectsOf(error) === "none") sent.delete(token);
    return undefined;
  }
}

/**
 * A metadata store whose calls end: each waits a stated time, and reads, which change nothing, are tried
 * twice. A write is sent once; its caller reads before it writes again (UPD2).
 */
export function boundedMetadata(store: MetadataStore, clock: Clock): MetadataStore {
  const once = <T>(what: string, call: () => Promise<T>) =>
    withTimeout(clock, limits.metadataCallTimeoutMs, what, call);
  const twice = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await once(what, call);
    } catch {
      return await once(what, call);
    }
  };
  return {
    get: (key, consistency) => twice("metadata get", () => store.get(key, consistency)),
    query: (query, consistency) => twice("metadata query", () => store.query(query, consistency)),
    write: (key, expected, item, token) =>
      once("metadata write", () => store.write(key, expected, item, token)),
    remove: (key, expected) => once("metadata remove", () => store.remove(key, expected)),
  };
}
