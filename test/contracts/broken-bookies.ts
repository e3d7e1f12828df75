/** Bookies that leave out one step of a rule each. The bookie's contract must catch every one of them. */
import { StoredBookie, type StoredBookieFields } from "../../lib/protocol/bookie/stored-bookie.ts";
import { sameBytes } from "../../lib/protocol/entry.ts";
import type {
  Bookie,
  EntryStore,
  RecoveryAddAnswer,
  RecoveryReadAnswer,
  SealedEntry,
  StoreKey,
} from "../../lib/protocol/ports.ts";

type Make = (fields: StoredBookieFields) => Bookie;

/** A true bookie whose storage calls are tampered with. */
const over =
  (tamper: (store: EntryStore) => Partial<EntryStore>): Make =>
  (fields) => {
    const { store } = fields;
    const whole: EntryStore = {
      putIfAbsent: (key, value) => store.putIfAbsent(key, value),
      put: (key, value) => store.put(key, value),
      get: (key, signal) => store.get(key, signal),
      delete: (key) => store.delete(key),
      list: (request) => store.list(request),
    };
    return new StoredBookie({ ...fields, store: { ...whole, ...tamper(store) } });
  };

const slotOf = (entry: SealedEntry): StoreKey => ({
  kind: "slot",
  ledgerId: entry.header.ledgerId,
  entryId: entry.header.entryId,
});

class AnyCopyIsOk extends StoredBookie {
  override async add(entry: SealedEntry) {
    const answer = await super.add(entry);
    const { ledgerId, entryId } = entry.header;
    const found = await this.read(ledgerId, entryId);
    const same = found.kind === "entry" && sameBytes(found.entry.payload, entry.payload);
    return found.kind === "entry" && found.copy === "recovered" && same ? ({ kind: "ok" } as const) : answer;
  }
}

/** Looks for the fence and for a free slot before it puts, as a bookie with a memory could. */
const checkThenPut: Make = (fields) =>
  altered(new StoredBookie(fields), {
    async add(entry) {
      const { ledgerId } = entry.header;
      if ((await fields.store.get({ kind: "fence", ledgerId })) !== undefined) return { kind: "fenced" };
      const found = await fields.store.get(slotOf(entry));
      if (found !== undefined) return await new StoredBookie(fields).add(entry);
      await fields.store.put(slotOf(entry), { kind: "original", entry });
      return { kind: "ok" };
    },
  });

const readsWithoutTombstone: Make = (fields) =>
  altered(new StoredBookie(fields), {
    async recoveryRead(ledgerId, entryId): Promise<RecoveryReadAnswer> {
      await fields.store.put({ kind: "fence", ledgerId }, { kind: "fence" });
      const value = await fields.store.get({ kind: "slot", ledgerId, entryId });
      if (value?.kind !== "original" && value?.kind !== "recovered") return { kind: "tombstone" };
      return { kind: "entry", copy: value.kind, entry: value.entry };
    },
  });

const writesBackOverOriginals: Make = (fields) =>
  altered(new StoredBookie(fields), {
    async recoveryAdd(entry): Promise<RecoveryAddAnswer> {
      await fields.store.put(slotOf(entry), { kind: "recovered", entry });
      return { kind: "ok" };
    },
  });

const writesBackIfAbsentOnly: Make = (fields) =>
  altered(new StoredBookie(fields), {
    async recoveryAdd(entry): Promise<RecoveryAddAnswer> {
      await fields.store.putIfAbsent(slotOf(entry), { kind: "recovered", entry });
      return { kind: "ok" };
    },
  });

function altered(whole: StoredBookie, methods: Partial<Bookie>): Bookie {
  return {
    id: whole.id,
    add: (entry) => whole.add(entry),
    read: (ledger, entry, signal) => whole.read(ledger, entry, signal),
    readSeveral: (ledger, entries, signal) => whole.readSeveral(ledger, entries, signal),
    tail: (ledger) => whole.tail(ledger),
    fence: (ledger) => whole.fence(ledger),
    recoveryRead: (ledger, entry) => whole.recoveryRead(ledger, entry),
    recoveryAdd: (entry) => whole.recoveryAdd(entry),
    seal: (ledger, entry) => whole.seal(ledger, entry),
    deleteEntries: (ledger, through) => whole.deleteEntries(ledger, through),
    forget: (ledger) => whole.forget(ledger),
    ...methods,
  };
}

export const brokenBookies: Readonly<Record<string, Make>> = {
  "signal: an abort beforehand stops no recovery read": (fields) => {
    const whole = new StoredBookie(fields);
    return altered(whole, { recoveryRead: (ledger, entry) => whole.recoveryRead(ledger, entry) });
  },
  "signal: storage is not told of an abort": over((store) => ({ get: (key) => store.get(key) })),
  "several: answers come in another order": (fields) => {
    const whole = new StoredBookie(fields);
    return altered(whole, {
      readSeveral: (ledger, entries) => whole.readSeveral(ledger, entries.toSorted()),
    });
  },
  "several: one that fails fails all": (fields) => {
    const whole = new StoredBookie(fields);
    return altered(whole, {
      readSeveral: (ledger, entries) => Promise.all(entries.map((entry) => whole.read(ledger, entry))),
    });
  },
  "rule 2: adds do not look for the fence": over((store) => ({
    get: async (key) => (key.kind === "fence" ? undefined : await store.get(key)),
  })),
  "rule 2: adds look first and put afterwards": checkThenPut,
  "rule 2: a Recovered copy counts as one's own": (fields) => new AnyCopyIsOk(fields),
  "rules 2, 20: what occupies the slot counts as one's own": over((store) => ({
    putIfAbsent: async (key, value) => {
      const answer = await store.putIfAbsent(key, value);
      return value.kind === "original" ? "stored" : answer;
    },
  })),
  "rule 3: recovery reads put no fence": over((store) => ({
    put: async (key, value) => {
      if (key.kind !== "fence") await store.put(key, value);
    },
  })),
  "rule 3: recovery reads leave no Tombstone": readsWithoutTombstone,
  "rule 4: write-back replaces an Original": writesBackOverOriginals,
  "rule 4: write-back does not replace a Tombstone": writesBackIfAbsentOnly,
  "rule 9: a seal is told where nothing was put": (fields) =>
    altered(new StoredBookie(fields), { seal: async () => ({ kind: "sealed" }) }),
  "rule 15: the first sweep takes the seal": (fields) => {
    const whole = new StoredBookie(fields);
    return altered(whole, {
      deleteEntries: (ledger) => whole.deleteEntries(ledger, Number.MAX_SAFE_INTEGER as never),
    });
  },
  "rule 15: the first sweep takes the fence": (fields) => {
    const whole = new StoredBookie(fields);
    return altered(whole, {
      async deleteEntries(ledgerId, through) {
        await whole.deleteEntries(ledgerId, through);
        await fields.store.delete({ kind: "fence", ledgerId });
      },
    });
  },
  "rule 21: the marker is never read": over((store) => ({
    get: async (key) =>
      key.kind === "incarnation" ? { kind: "incarnation", storage: "s1" } : await store.get(key),
  })),
  "rule 21: storage that does not answer counts as empty": over((store) => ({
    get: async (key) => {
      try {
        return await store.get(key);
      } catch {
        return undefined;
      }
    },
  })),
};
