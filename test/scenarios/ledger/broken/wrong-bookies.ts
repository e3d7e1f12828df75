/**
 * Bookies with one rule broken each. A story that ends well with `StoredBookie` and badly with one of these
 * shows that it distinguishes the two.
 */
import { StoredBookie, type StoredBookieFields } from "../../../../lib/protocol/bookie/stored-bookie.ts";
import { sameContent } from "../../../../lib/protocol/entry.ts";
import { unavailable } from "../../../../lib/protocol/errors.ts";
import type { EntryId, LedgerId } from "../../../../lib/protocol/ids.ts";
import type {
  AddAnswer,
  EntryStore,
  RecoveryAddAnswer,
  RecoveryReadAnswer,
  SealedEntry,
  StoreKey,
} from "../../../../lib/protocol/ports.ts";

class WrongBookie extends StoredBookie {
  protected readonly store: EntryStore;

  constructor(fields: StoredBookieFields) {
    super(fields);
    this.store = fields.store;
  }

  protected async putFence(ledgerId: LedgerId): Promise<void> {
    await this.store.put({ kind: "fence", ledgerId }, { kind: "fence" });
  }

  /** An empty slot is answered as if it held a Tombstone, and stays empty. */
  protected async readLeavingEmpty(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    const answer = await this.read(ledgerId, entryId);
    return answer.kind === "nothing" ? { kind: "tombstone" } : answer;
  }
}

/** Adds look for the fence and then put; recovery reads leave empty slots empty (rules 2, 3). */
export class CheckThenPut extends WrongBookie {
  override async add(entry: SealedEntry): Promise<AddAnswer> {
    const { ledgerId } = entry.header;
    if ((await this.store.get({ kind: "fence", ledgerId })) !== undefined) return { kind: "fenced" };
    await this.store.putIfAbsent(slotOf(entry), { kind: "original", entry });
    return { kind: "ok" };
  }

  override async recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    await this.putFence(ledgerId);
    return await this.readLeavingEmpty(ledgerId, entryId);
  }
}

/** Recovery reads fence but leave empty slots empty (rule 3). */
export class FencesOnly extends WrongBookie {
  override async recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    await this.putFence(ledgerId);
    return await this.readLeavingEmpty(ledgerId, entryId);
  }
}

/** Recovery reads do nothing but read (rule 3). */
export class ReadsPlainly extends WrongBookie {
  override async recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    return await this.readLeavingEmpty(ledgerId, entryId);
  }
}

/** Recovery reads occupy empty slots and do not fence (rule 3). */
export class ReadsWithoutFence extends WrongBookie {
  override async recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    await this.store.putIfAbsent({ kind: "slot", ledgerId, entryId }, { kind: "tombstone" });
    return await this.readLeavingEmpty(ledgerId, entryId);
  }
}

/** An add that finds its own entry as a Recovered copy is OK (rule 2). */
export class RecoveredIsOk extends WrongBookie {
  override async add(entry: SealedEntry): Promise<AddAnswer> {
    const { ledgerId } = entry.header;
    const [put, fence] = await Promise.all([
      this.store.putIfAbsent(slotOf(entry), { kind: "original", entry }),
      this.store.get({ kind: "fence", ledgerId }),
    ]);
    if (fence !== undefined) return { kind: "fenced" };
    if (put === "stored") return { kind: "ok" };
    const occupant = await this.store.get(slotOf(entry));
    const isCopy = occupant?.kind === "original" || occupant?.kind === "recovered";
    return isCopy && sameContent(occupant.entry, entry) ? { kind: "ok" } : { kind: "fenced" };
  }
}

/** A fence is answered before it is durable (rule 3). */
export class FencesLater extends WrongBookie {
  override async recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    void this.putFence(ledgerId);
    return await this.readLeavingEmpty(ledgerId, entryId);
  }

  override async fence(ledgerId: LedgerId) {
    void this.putFence(ledgerId);
    return await this.tail(ledgerId);
  }
}

/** A write-back never replaces a Tombstone (rule 4). */
export class TombstonesForEver extends WrongBookie {
  override async recoveryAdd(entry: SealedEntry): Promise<RecoveryAddAnswer> {
    const put = await this.store.putIfAbsent(slotOf(entry), { kind: "recovered", entry });
    const occupant = put === "occupied" ? await this.store.get(slotOf(entry)) : undefined;
    if (occupant?.kind === "tombstone") throw unavailable(`${this.id}: the slot is taken`);
    return { kind: "ok" };
  }
}

/** A write-back is answered and not done (rule 11). */
export class WritesNothingBack extends WrongBookie {
  override async recoveryAdd(): Promise<RecoveryAddAnswer> {
    return { kind: "ok" };
  }
}

/** The first sweep takes every slot, the seal among them (rule 15). */
export class SweepsSeals extends WrongBookie {
  override async deleteEntries(ledgerId: LedgerId): Promise<void> {
    const { keys } = await this.store.list({ ledgerId, limit: 1_000 });
    for (const key of keys) if (key.kind === "slot") await this.store.delete(key);
  }
}

/** Both at once: S18 takes two faults. */
export class SweepsSealsAndReadsWithoutFence extends SweepsSeals {
  override async recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    await this.store.putIfAbsent({ kind: "slot", ledgerId, entryId }, { kind: "tombstone" });
    return await this.readLeavingEmpty(ledgerId, entryId);
  }
}

function slotOf(entry: SealedEntry): StoreKey {
  const { ledgerId, entryId } = entry.header;
  return { kind: "slot", ledgerId, entryId };
}
