/**
 * What one bookie does, over an entry store. A bookie is many processes at once and none of them remembers
 * anything that decides (rules 1 to 4): the store's put-if-absent is the only arbiter.
 *
 * SK1 A slot that holds an Original keeps it for ever; no operation here replaces one (rule 1).
 * SK2 An add is OK only if its own content is in the slot as an Original and no fence was there (rule 2).
 * SK3 A recovery request answers after the fence is durable, and a negative leaves a Tombstone (rule 3).
 * SK4 A negative, and an OK, come from the storage that the bookie's id names: the incarnation marker is read
 *     for each; a tail read's `nothing` may trust a check under a minute old (rule 21).
 */

import { Age, type Clock } from "../deadline.ts";
import { isIdentical, sameContent } from "../entry.ts";
import { unavailable } from "../errors.ts";
import type { BookieId, EntryId, LedgerId } from "../ids.ts";
import { limits } from "../limits.ts";
import type {
  AddAnswer,
  Bookie,
  EntryStore,
  ReadAnswer,
  RecoveryAddAnswer,
  RecoveryReadAnswer,
  SealAnswer,
  SealedEntry,
  SlotAnswers,
  StoreKey,
  StoreValue,
  TailAnswer,
} from "../ports.ts";
import { type CallSignal, throwIfAborted } from "../waiting.ts";

export interface StoredBookieFields {
  readonly id: BookieId;
  /** Identity of the storage that the id names (rule 21). */
  readonly storage: string;
  readonly store: EntryStore;
  readonly clock: Clock;
}

const FENCE: StoreValue = { kind: "fence" };
const TOMBSTONE: StoreValue = { kind: "tombstone" };

/** Marks empty storage as `storage`; storage marked as another is refused, and nothing of it is touched. */
export async function setUpStorage(store: EntryStore, storage: string): Promise<void> {
  await store.putIfAbsent({ kind: "incarnation" }, { kind: "incarnation", storage });
  const marker = await store.get({ kind: "incarnation" });
  if (marker?.kind === "incarnation" && marker.storage === storage) return;
  throw unavailable(
    `storage is marked ${JSON.stringify(marker)}, not ${storage}: it belongs to another bookie`,
    "none",
  );
}

export class StoredBookie implements Bookie {
  readonly id: BookieId;
  readonly #store: EntryStore;
  /** When the identity was last checked and found good; trusted by tail reads only. */
  #identityChecked: Age | undefined;

  constructor(private readonly fields: StoredBookieFields) {
    this.id = fields.id;
    this.#store = fields.store;
  }

  async add(entry: SealedEntry): Promise<AddAnswer> {
    const { ledgerId, entryId } = entry.header;
    const slot = slotKey(ledgerId, entryId);
    // The three may run at once, because fences and seals outlive any process that still adds (rules 2, 15).
    const [put, fence] = await Promise.all([
      this.#store.putIfAbsent(slot, { kind: "original", entry }),
      this.#store.get({ kind: "fence", ledgerId }),
      this.#checkIdentity(),
    ]);
    if (fence !== undefined) return { kind: "fenced" };
    if (put === "stored") return { kind: "ok" };
    const occupant = await this.#occupant(slot);
    const ours = occupant.kind === "original" && sameContent(occupant.entry, entry);
    if (!ours) return { kind: "fenced" };
    if (!isIdentical(occupant.entry, entry))
      throw unavailable(`${this.id}: its copy of ${entryId} is damaged`);
    return { kind: "ok" };
  }

  async read(ledgerId: LedgerId, entryId: EntryId, signal?: CallSignal): Promise<ReadAnswer> {
    throwIfAborted(signal, `read ${entryId}`);
    const value = await this.#store.get(slotKey(ledgerId, entryId), signal);
    if (value !== undefined) return slotAnswer(value);
    if (!this.#isIdentityFresh()) await this.#checkIdentity();
    return { kind: "nothing" };
  }

  /** One slot that cannot be read says nothing about the others. */
  async readSeveral(
    ledgerId: LedgerId,
    entryIds: readonly EntryId[],
    signal?: CallSignal,
  ): Promise<SlotAnswers> {
    const reads = entryIds.map((entryId) => this.read(ledgerId, entryId, signal));
    const answers = await Promise.all(reads.map((read) => read.catch(() => undefined)));
    throwIfAborted(signal, `read ${entryIds.length} entries`);
    return answers;
  }

  async tail(ledgerId: LedgerId, signal?: CallSignal): Promise<TailAnswer> {
    const page = await this.#store.list({ ledgerId, limit: limits.highestEntryScanKeys });
    for (const key of page.keys) {
      if (key.kind !== "slot") continue;
      throwIfAborted(signal, `tail of ${ledgerId}`);
      const value = await this.#store.get(key, signal);
      if (value?.kind === "original" || value?.kind === "recovered") return { highest: value.entry };
    }
    return {};
  }

  async fence(ledgerId: LedgerId): Promise<TailAnswer> {
    await this.#store.put({ kind: "fence", ledgerId }, FENCE);
    const answer = await this.tail(ledgerId);
    await this.#checkIdentity();
    return answer;
  }

  /** An abort keeps it from beginning. Once begun it runs to its end: half of it would help nobody. */
  async recoveryRead(ledgerId: LedgerId, entryId: EntryId, signal?: CallSignal): Promise<RecoveryReadAnswer> {
    throwIfAborted(signal, `recovery read ${entryId}`);
    await this.#store.put({ kind: "fence", ledgerId }, FENCE);
    const slot = slotKey(ledgerId, entryId);
    let value = await this.#store.get(slot);
    if (value === undefined) {
      const put = await this.#store.putIfAbsent(slot, TOMBSTONE);
      value = put === "stored" ? TOMBSTONE : await this.#occupant(slot);
    }
    const answer = slotAnswer(value);
    // After the slot was read, so that a negative cannot come from storage that was swapped in between.
    if (answer.kind === "tombstone") await this.#checkIdentity();
    return answer;
  }

  async recoveryAdd(entry: SealedEntry): Promise<RecoveryAddAnswer> {
    const { ledgerId, entryId } = entry.header;
    const slot = slotKey(ledgerId, entryId);
    const recovered: StoreValue = { kind: "recovered", entry };
    // Every recovery request fences, this one too: no add that arrives after its answer is OK.
    const [put] = await Promise.all([
      this.#store.putIfAbsent(slot, recovered),
      this.#store.putIfAbsent({ kind: "fence", ledgerId }, FENCE),
    ]);
    if (put === "occupied") {
      const occupant = await this.#occupant(slot);
      if (occupant.kind === "original") {
        if (!isIdentical(occupant.entry, entry)) return { kind: "conflict", occupant: occupant.entry };
      } else {
        // A Tombstone or Recovered never becomes an Original again, so this put cannot replace one (SK1).
        await this.#store.put(slot, recovered);
      }
    }
    await this.#checkIdentity();
    return { kind: "ok" };
  }

  async seal(ledgerId: LedgerId, entryId: EntryId): Promise<SealAnswer> {
    const slot = slotKey(ledgerId, entryId);
    const put = await this.#store.putIfAbsent(slot, TOMBSTONE);
    const sealed = put === "stored" || (await this.#occupant(slot)).kind === "tombstone";
    await this.#checkIdentity(); // "occupied" too: by a Recovered copy it may count as sealed (15)
    return { kind: sealed ? "sealed" : "occupied" };
  }

  async deleteEntries(ledgerId: LedgerId, through: EntryId): Promise<void> {
    await this.#deleteKeys(ledgerId, (key) => key.kind === "slot" && key.entryId <= through);
    await this.#checkIdentity();
  }

  async forget(ledgerId: LedgerId): Promise<void> {
    await this.#deleteKeys(ledgerId, (key) => key.kind === "slot");
    await this.#store.delete({ kind: "fence", ledgerId });
    await this.#checkIdentity();
  }

  async #deleteKeys(ledgerId: LedgerId, chosen: (key: StoreKey) => boolean): Promise<void> {
    let after: string | undefined;
    do {
      const from = after === undefined ? {} : { after };
      const page = await this.#store.list({ ledgerId, limit: 1_000, ...from });
      await Promise.all(page.keys.filter(chosen).map((key) => this.#store.delete(key)));
      after = page.next;
    } while (after !== undefined);
  }

  /**
   * What is in a slot that a put-if-absent found taken. Gone again: the ledger is being collected, say
   * nothing.
   */
  async #occupant(slot: StoreKey): Promise<StoreValue> {
    const value = await this.#store.get(slot);
    if (value === undefined) throw unavailable(`${this.id}: slot was taken and is gone again`);
    return value;
  }

  #isIdentityFresh(): boolean {
    return this.#identityChecked?.isWithin(limits.identityCheckAgeMaxMs) === true;
  }

  /** Rejects unless the storage is the one that this bookie's id names: otherwise no answer counts (SK4). */
  async #checkIdentity(): Promise<void> {
    const checked = new Age(this.fields.clock);
    const marker = await this.#store.get({ kind: "incarnation" });
    if (marker?.kind !== "incarnation" || marker.storage !== this.fields.storage) {
      throw unavailable(
        `${this.id}: its storage is marked ${JSON.stringify(marker)}, expected ${this.fields.storage}`,
      );
    }
    this.#identityChecked = checked;
  }
}

const slotKey = (ledgerId: LedgerId, entryId: EntryId): StoreKey => ({ kind: "slot", ledgerId, entryId });

function slotAnswer(value: StoreValue): RecoveryReadAnswer {
  switch (value.kind) {
    case "original":
    case "recovered":
      return { kind: "entry", copy: value.kind, entry: value.entry };
    case "tombstone":
      return { kind: "tombstone" };
    case "fence":
    case "incarnation":
      throw unavailable(`a slot holds ${value.kind}: the storage is damaged`);
  }
}

/** Each of its calls rejects, without effect. `where`: what has no such bookie, for people to read. */
export function absentBookie(id: BookieId, where: string): Bookie {
  const reject = async (): Promise<never> => {
    throw unavailable(`${where} has no bookie ${id}`, "none");
  };
  return {
    id,
    add: reject,
    read: reject,
    tail: reject,
    fence: reject,
    recoveryRead: reject,
    recoveryAdd: reject,
    seal: reject,
    deleteEntries: reject,
    forget: reject,
  };
}
