/**
 * Ledger metadata only moves forward: states in order, first entries of fragments strictly increasing
 * (TLA+: OnlyValidFragments), old fragments untouched, ensembles changed by the writer while OPEN and by
 * recovery in the write that closes, no retired bookie taken again by a writer (rules 6, 7, 10, 12).
 */
import type { LedgerMetadata, OpenLedger } from "../../../lib/protocol/ledger-metadata.ts";
import type { Fragment } from "../../../lib/protocol/replication.ts";
import type { Checker } from "./checker.ts";

const order = { OPEN: 0, IN_RECOVERY: 1, CLOSED: 2, DELETED: 3 };

export const ledgerTransitions: Checker = {
  name: "ledger-transitions",
  watch(_world, report) {
    return {
      metadataChanged({ before, after }) {
        const item = after?.item;
        if (item?.kind !== "ledger") return;
        const wrong = wrongFragments(item.fragments);
        if (wrong !== undefined) return report(wrong, item.ledgerId);
        const old = before?.item;
        if (old?.kind !== "ledger") {
          if (item.state !== "OPEN") report(`appears as ${item.state}`, item.ledgerId);
          return;
        }
        const change = wrongChange(old, item);
        if (change !== undefined) report(change, item.ledgerId);
      },
    };
  },
};

function wrongFragments(fragments: readonly Fragment[]): string | undefined {
  if (fragments[0]?.firstEntry !== 0) return `its first fragment starts at ${fragments[0]?.firstEntry}`;
  for (let index = 1; index < fragments.length; index++) {
    const one = fragments[index - 1]?.firstEntry ?? 0;
    const next = fragments[index]?.firstEntry ?? 0;
    if (next <= one) return `fragment ${next} follows fragment ${one}`;
  }
  return undefined;
}

function wrongChange(old: LedgerMetadata, item: LedgerMetadata): string | undefined {
  if (order[item.state] < order[old.state]) return `went from ${old.state} back to ${item.state}`;
  if (item.state === "DELETED" && old.state !== "CLOSED" && old.state !== "DELETED") {
    return `is deleted while ${old.state}`;
  }
  if (item.state === "OPEN" && old.state === "OPEN") return wrongEnsembleChange(old, item);
  const mayChange = item.state === "CLOSED" && old.state === "IN_RECOVERY";
  const kept = old.fragments.length - (mayChange ? 1 : 0);
  if (item.fragments.length < kept) return `lost fragments between ${old.state} and ${item.state}`;
  for (let index = 0; index < kept; index++) {
    if (same(old.fragments[index], item.fragments[index])) continue;
    return `fragment ${old.fragments[index]?.firstEntry} changed between ${old.state} and ${item.state}`;
  }
  if (!mayChange && item.fragments.length > kept) return `gained a fragment as ${item.state}`;
  return undefined;
}

/** One fragment more, or the last one replaced at its own first entry; newcomers were never members. */
function wrongEnsembleChange(old: OpenLedger, item: OpenLedger): string | undefined {
  const replaced = old.fragments.at(-1)?.firstEntry === item.fragments.at(-1)?.firstEntry;
  const expected = old.fragments.length + (replaced ? 0 : 1);
  if (item.fragments.length !== expected) return `has ${item.fragments.length} fragments, not ${expected}`;
  for (let index = 0; index < expected - 1; index++) {
    if (!same(old.fragments[index], item.fragments[index])) return `an old fragment changed while OPEN`;
  }
  const present = new Set(old.fragments.at(-1)?.ensemble.map(({ id }) => id));
  const members = old.fragments.flatMap(({ ensemble }) => ensemble.map(({ id }) => id));
  const past = new Set([...members, ...old.retired].filter((id) => !present.has(id)));
  const again = item.fragments.at(-1)?.ensemble.find(({ id }) => past.has(id));
  return again === undefined ? undefined : `its writer took ${again.id} again`;
}

function same(one: Fragment | undefined, other: Fragment | undefined): boolean {
  if (one === undefined || other === undefined || one.firstEntry !== other.firstEntry) return false;
  return one.ensemble.every((member, index) => member.id === other.ensemble[index]?.id);
}
