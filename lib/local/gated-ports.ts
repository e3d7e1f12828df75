/** Ports behind a gate: each call passes it, and nothing else about them changes. */
import type { Bookie, LeaseStore, MetadataStore } from "../protocol/ports.ts";
import type { Gate } from "./region-switch.ts";

export function gatedBookie(bookie: Bookie, gate: Gate): Bookie {
  const { id } = bookie;
  return {
    id,
    add: (entry) => gate(`${id} add`, () => bookie.add(entry)),
    read: (ledger, entry, signal) => gate(`${id} read`, () => bookie.read(ledger, entry, signal), signal),
    ...severalOf(bookie, gate),
    tail: (ledger, signal) => gate(`${id} tail`, () => bookie.tail(ledger, signal), signal),
    fence: (ledger) => gate(`${id} fence`, () => bookie.fence(ledger)),
    recoveryRead: (ledger, entry, signal) =>
      gate(`${id} recoveryRead`, () => bookie.recoveryRead(ledger, entry, signal), signal),
    recoveryAdd: (entry) => gate(`${id} recoveryAdd`, () => bookie.recoveryAdd(entry)),
    seal: (ledger, entry) => gate(`${id} seal`, () => bookie.seal(ledger, entry)),
    deleteEntries: (ledger, through) => gate(`${id} delete`, () => bookie.deleteEntries(ledger, through)),
    forget: (ledger) => gate(`${id} forget`, () => bookie.forget(ledger)),
  };
}

/** Absent where the bookie has none. */
function severalOf(bookie: Bookie, gate: Gate): Pick<Bookie, "readSeveral"> {
  if (bookie.readSeveral === undefined) return {};
  return {
    readSeveral: (ledger, entries, signal) =>
      gate(
        `${bookie.id} read of ${entries.length} entries`,
        async () => (await bookie.readSeveral?.(ledger, entries, signal)) ?? [],
        signal,
      ),
  };
}

export function gatedLeases(store: LeaseStore, gate: Gate): LeaseStore {
  return {
    read: (log) => gate("lease read", () => store.read(log)),
    write: (log, expected, lease, token) =>
      gate("lease write", () => store.write(log, expected, lease, token)),
    readFailures: (owner) => gate("owner's failures read", () => store.readFailures(owner)),
    writeFailures: (...given) => gate("owner's failures write", () => store.writeFailures(...given)),
  };
}

export function gatedMetadata(store: MetadataStore, gate: Gate): MetadataStore {
  return {
    get: (key, consistency) => gate("metadata get", () => store.get(key, consistency)),
    query: (query, consistency) => gate("metadata query", () => store.query(query, consistency)),
    write: (key, expected, item, token) =>
      gate("metadata write", () => store.write(key, expected, item, token)),
    remove: (key, expected) => gate("metadata remove", () => store.remove(key, expected)),
  };
}
