/** Wrong bookies: rules 1 to 4 and 21. */
import type { Mutant } from "./mutant.ts";

export const bookieMutants: readonly Mutant[] = [
  {
    name: "check-then-put-without-tombstones",
    breaks: "S01, rules 1 and 3",
    patches: [
      {
        in: "StoredBookie.recoveryRead",
        from: `const put = await this.#store.putIfAbsent(slot, TOMBSTONE);
value = put === "stored" ? TOMBSTONE : await this.#occupant(slot);`,
        to: "value = TOMBSTONE;",
      },
      {
        in: "StoredBookie.add",
        from: `const [put, fence] = await Promise.all([
  this.#store.putIfAbsent(slot, { kind: "original", entry }),
  this.#store.get({ kind: "fence", ledgerId }),
  this.#checkIdentity(),
]);
if (fence !== undefined) return { kind: "fenced" };`,
        to: `const fence = await this.#store.get({ kind: "fence", ledgerId });
if (fence !== undefined) return { kind: "fenced" };
const put = await this.#store.putIfAbsent(slot, { kind: "original", entry });`,
      },
    ],
    profiles: ["storm", "combined", "freeze"],
  },
  {
    name: "recovery-read-only-looks",
    breaks: "S02, rule 3",
    patches: [
      {
        in: "StoredBookie.recoveryRead",
        from: `const put = await this.#store.putIfAbsent(slot, TOMBSTONE);
value = put === "stored" ? TOMBSTONE : await this.#occupant(slot);`,
        to: "value = TOMBSTONE;",
      },
      {
        in: "StoredBookie.recoveryRead",
        from: `await this.#store.put({ kind: "fence", ledgerId }, FENCE);`,
        to: "",
      },
    ],
    profiles: ["storm", "combined", "freeze"],
  },
  {
    name: "fences-without-tombstones",
    breaks: "S03, rules 3 and 13",
    patches: [
      {
        in: "StoredBookie.recoveryRead",
        from: `const put = await this.#store.putIfAbsent(slot, TOMBSTONE);
value = put === "stored" ? TOMBSTONE : await this.#occupant(slot);`,
        to: "value = TOMBSTONE;",
      },
    ],
    profiles: ["storm", "combined", "freeze"],
  },
  {
    name: "recovery-read-without-fence",
    breaks: "S18, rule 3",
    patches: [
      {
        in: "StoredBookie.recoveryRead",
        from: `await this.#store.put({ kind: "fence", ledgerId }, FENCE);`,
        to: "",
      },
    ],
    profiles: ["storm", "combined", "freeze"],
  },
  {
    name: "recovered-copy-is-ok-for-an-add",
    breaks: "S05, rule 2",
    patches: [
      {
        in: "StoredBookie.add",
        from: `occupant.kind === "original"`,
        to: `(occupant.kind === "original" || occupant.kind === "recovered")`,
      },
    ],
    profiles: ["storm", "combined", "freeze"],
  },
  {
    name: "add-does-not-look-at-the-fence",
    breaks: "rule 2",
    patches: [
      {
        in: "StoredBookie.add",
        from: `if (fence !== undefined) return { kind: "fenced" };`,
        to: "",
      },
    ],
    profiles: ["storm", "combined", "freeze"],
  },
  {
    name: "tombstone-is-never-replaced",
    breaks: "S20, rule 4",
    patches: [
      {
        in: "StoredBookie.recoveryAdd",
        from: "await this.#store.put(slot, recovered);",
        to: `if (occupant.kind === "tombstone") return { kind: "conflict", occupant: entry };
await this.#store.put(slot, recovered);`,
      },
    ],
    profiles: ["storm", "combined", "lossy"],
  },
  {
    name: "recovery-add-replaces-an-original",
    breaks: "rules 1 and 4",
    patches: [
      {
        in: "StoredBookie.recoveryAdd",
        from: "this.#store.putIfAbsent(slot, recovered)",
        to: `this.#store.put(slot, recovered).then((): string => "stored")`,
      },
    ],
    profiles: ["storm", "combined", "lossy"],
  },
  {
    name: "access-denied-is-absent",
    breaks: "rule 21: 403 as a negative",
    patches: [
      {
        in: "StoredBookie.read",
        from: "this.#store.get(slotKey(ledgerId, entryId), signal)",
        to: "this.#store.get(slotKey(ledgerId, entryId), signal).catch(() => undefined)",
      },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
  {
    name: "storage-without-its-marker-is-trusted",
    breaks: "rule 21: a bookie that lost its data answers",
    patches: [
      {
        in: "StoredBookie.#checkIdentity",
        from: `marker?.kind !== "incarnation" || marker.storage !== this.fields.storage`,
        to: `marker?.kind === "tombstone"`,
      },
    ],
    profiles: ["damage"],
  },
  {
    name: "a-recovery-add-does-not-fence",
    breaks: "rule 4: every request of a recovery fences",
    patches: [
      {
        in: "StoredBookie.recoveryAdd",
        from: `this.#store.putIfAbsent({ kind: "fence", ledgerId }, FENCE)`,
        to: "undefined",
      },
    ],
    profiles: ["freeze", "storm", "combined"],
  },
];
