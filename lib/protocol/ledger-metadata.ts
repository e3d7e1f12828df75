/**
 * A ledger's metadata: an immutable value and the pure transitions between its states.
 *
 *     OPEN ----> IN_RECOVERY ----> CLOSED ----> DELETED
 *       \_________________________/^
 *
 * LM1 The state never goes back.
 * LM2 First entries of fragments strictly increase; the first is 0.
 * LM3 A last entry and a length exist only when CLOSED or DELETED, and then never change.
 * LM4 Ensembles change by the writer only while OPEN, and by recovery only in the write that closes.
 * LM5 `retired` holds every bookie that left an ensemble; a writer never uses one again (rule 7).
 */
import { assert } from "./assert.ts";
import {
  type BookieId,
  type EntryId,
  entryId,
  type LedgerId,
  type LogIncarnation,
  NO_ENTRY,
  type Region,
  type SeqNum,
} from "./ids.ts";
import type { BookieAddress, Fragment, LedgerDigest, Replication } from "./replication.ts";

/** The log segment that a ledger was created for (rules 23, 32). */
export interface LedgerOrigin {
  readonly log: LogIncarnation;
  readonly firstSeqNum: SeqNum;
  readonly ownerRegion: Region;
}

interface LedgerBase {
  readonly kind: "ledger";
  readonly ledgerId: LedgerId;
  readonly replication: Replication;
  readonly digest: LedgerDigest;
  readonly fragments: readonly Fragment[];
  readonly retired: readonly BookieId[];
  readonly origin?: LedgerOrigin;
  /** Wall time of creation in ms, for people to read. */
  readonly createdAtMs: number;
}

export interface OpenLedger extends LedgerBase {
  readonly state: "OPEN";
}
export interface LedgerInRecovery extends LedgerBase {
  readonly state: "IN_RECOVERY";
}
export interface ClosedLedger extends LedgerBase {
  readonly state: "CLOSED";
  /** NO_ENTRY for an empty ledger. */
  readonly lastEntry: EntryId;
  /** Payload bytes of the whole ledger. */
  readonly length: number;
}
export interface DeletedLedger extends Omit<ClosedLedger, "state"> {
  readonly state: "DELETED";
  /** Wall time in ms; the second sweep waits for the seal age from here (rule 15). */
  readonly deletedAtMs: number;
}

export type LedgerMetadata = OpenLedger | LedgerInRecovery | ClosedLedger | DeletedLedger;

type NewLedger = Omit<OpenLedger, "kind" | "state" | "fragments" | "retired">;

export function newLedger(fields: NewLedger & { readonly ensemble: Fragment["ensemble"] }): OpenLedger {
  const { ensemble, ...rest } = fields;
  checkReplication(fields.replication);
  assertMembers(ensemble, fields.replication);
  return {
    kind: "ledger",
    ...rest,
    state: "OPEN",
    fragments: [{ firstEntry: entryId(0), ensemble }],
    retired: [],
  };
}

/**
 * The order of quorum sizes, without which nothing below makes sense. Whether they survive a region is
 * placement's question.
 */
export function checkReplication(replication: Replication): void {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  for (const size of [ensembleSize, writeQuorum, ackQuorum, minRegions]) {
    assert(
      Number.isSafeInteger(size) && size >= 1,
      `quorum sizes are integers >= 1, got ${JSON.stringify(replication)}`,
    );
  }
  assert(ensembleSize >= writeQuorum, `ensemble size ${ensembleSize} is below write quorum ${writeQuorum}`);
  assert(writeQuorum >= ackQuorum, `write quorum ${writeQuorum} is below ack quorum ${ackQuorum}`);
  assert(ackQuorum >= minRegions, `ack quorum ${ackQuorum} is below minRegions ${minRegions}`);
}

function assertMembers(ensemble: readonly BookieAddress[], replication: Replication): void {
  assert(
    ensemble.length === replication.ensembleSize,
    `an ensemble has ${replication.ensembleSize} bookies, got ${ensemble.length}`,
  );
  assert(
    new Set(ensemble.map((member) => member.id)).size === ensemble.length,
    "an ensemble names each bookie once",
  );
}

export function lastFragment(ledger: LedgerMetadata): Fragment {
  const fragment = ledger.fragments.at(-1);
  assert(fragment !== undefined, "LM2: a ledger has a fragment");
  return fragment;
}

/** The fragment that contains `entry`. */
export function fragmentAt(ledger: LedgerMetadata, entry: EntryId): Fragment {
  const fragment = ledger.fragments.findLast((one) => one.firstEntry <= entry);
  if (fragment === undefined) throw new RangeError(`no fragment contains entry ${entry}`);
  return fragment;
}

/** OPEN -> IN_RECOVERY (rule 10). */
export function startRecovery(ledger: OpenLedger): LedgerInRecovery {
  return { ...ledger, state: "IN_RECOVERY" };
}

/**
 * The writer's ensemble change (rule 6c). `firstEntry` is the frozen last add confirmed plus one: the
 * fragment that starts there is replaced, otherwise a new one is added (LM2).
 */
export function replaceEnsemble(
  ledger: OpenLedger,
  firstEntry: EntryId,
  ensemble: readonly BookieAddress[],
): OpenLedger {
  assertMembers(ensemble, ledger.replication);
  const left = lastFragment(ledger).ensemble.filter(
    (member) => !ensemble.some((other) => other.id === member.id),
  );
  const retired = new Set([...ledger.retired, ...left.map((member) => member.id)]);
  for (const member of ensemble)
    assert(!retired.has(member.id), `LM5: ${member.id} was a member before and never comes back`);
  return {
    ...ledger,
    fragments: withFragment(ledger.fragments, { firstEntry, ensemble }),
    retired: [...retired],
  };
}

/** OPEN or IN_RECOVERY -> CLOSED (rules 9, 12). `fragments` are recovery's local ones. */
export function closeLedger(
  ledger: OpenLedger | LedgerInRecovery,
  end: { readonly lastEntry: EntryId; readonly length: number },
  fragments: readonly Fragment[] = ledger.fragments,
): ClosedLedger {
  assert(
    end.lastEntry >= NO_ENTRY && end.length >= 0,
    `LM3: an end is an entry id and a length, got ${JSON.stringify(end)}`,
  );
  for (const fragment of fragments) assertMembers(fragment.ensemble, ledger.replication);
  assertIncreasing(fragments);
  const members = new Set(fragments.flatMap((fragment) => fragment.ensemble.map((member) => member.id)));
  const left = ledger.fragments.flatMap((fragment) => fragment.ensemble.map((member) => member.id));
  // Whom recovery replaced may still hold entries, and collection has to find them (LM5).
  const retired = [...new Set([...ledger.retired, ...left.filter((id) => !members.has(id))])];
  return { ...ledger, state: "CLOSED", fragments, retired, lastEntry: end.lastEntry, length: end.length };
}

/** CLOSED -> DELETED (rule 15). */
export function deleteLedger(ledger: ClosedLedger, deletedAtMs: number): DeletedLedger {
  return { ...ledger, state: "DELETED", deletedAtMs };
}

/** `fragments` with `fragment` in place of the last one if both start at the same entry, else behind it. */
export function withFragment(fragments: readonly Fragment[], fragment: Fragment): readonly Fragment[] {
  const last = fragments.at(-1);
  const kept =
    last !== undefined && last.firstEntry === fragment.firstEntry ? fragments.slice(0, -1) : fragments;
  const result = [...kept, fragment];
  assertIncreasing(result);
  return result;
}

function assertIncreasing(fragments: readonly Fragment[]): void {
  fragments.forEach((fragment, index) => {
    const before = fragments[index - 1];
    assert(
      before === undefined || before.firstEntry < fragment.firstEntry,
      `LM2: fragment ${fragment.firstEntry} does not follow ${before?.firstEntry}`,
    );
  });
}

export function sameFragment(one: Fragment, other: Fragment): boolean {
  if (one.firstEntry !== other.firstEntry || one.ensemble.length !== other.ensemble.length) return false;
  return one.ensemble.every((member, index) => member.id === other.ensemble[index]?.id);
}
