/**
 * The writer's ensemble change (rule 6): bookies failed, and without others in their places some entry can
 * no longer be acknowledged. The caller has frozen acknowledgements and holds back new adds (6a).
 *
 * CE1 Every unacknowledged entry whose write set contains a replaced position is on its replacement before
 *     the metadata names the replacement (6b, 6c). Persisting first and copying afterwards loses entries that
 *     a strong reader has already returned (S09).
 * CE2 The write is from OPEN, and only over the last fragment that this writer itself wrote or saw (6c).
 * CE3 A replacement was never a member of an earlier ensemble (rule 7).
 */
import { type BookieId, type EntryId, entryId, nextEntry } from "../ids.ts";
import {
  type LedgerMetadata,
  lastFragment,
  type OpenLedger,
  replaceEnsemble,
  sameFragment,
} from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import { checkEnsemble } from "../placement/check-ensemble.ts";
import type { EnsembleRequest, PlacementAnswer } from "../placement/placement.ts";
import type { SealedEntry, Versioned } from "../ports.ts";
import {
  type Fragment,
  isAckSet,
  memberAt,
  type Replication,
  writeSet,
  writeSetPositions,
} from "../replication.ts";
import { changeItem } from "../update-item.ts";
import { callBookie, type LedgerPorts } from "./ledger-ports.ts";

interface EnsembleChange {
  readonly ledger: Versioned<OpenLedger>;
  readonly lastAddConfirmed: EntryId;
  /** Every entry that was sent and is not acknowledged. */
  readonly unacknowledged: readonly SealedEntry[];
  readonly failedPositions: readonly number[];
}

type EnsembleChangeAnswer =
  | {
      readonly kind: "changed";
      readonly ledger: Versioned<OpenLedger>;
      readonly positions: readonly number[];
    }
  /** No legal replacement; nothing was changed (rule 7). */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "fenced"; readonly reason: string };

/** Throws `unavailable` if the metadata store does not answer; the change may then have been written. */
export async function changeEnsemble(
  ports: LedgerPorts,
  change: EnsembleChange,
): Promise<EnsembleChangeAnswer> {
  if (change.failedPositions.length === 0) {
    return { kind: "refused", reason: "the ensemble cannot form an ACK set at all" };
  }
  const wholly = await replacePositions(ports, change, change.failedPositions);
  if (wholly.kind !== "refused" || change.failedPositions.length === 1) return wholly;
  // Not all failed bookies can be replaced: one of them may be enough to bring an ACK set within reach. The
  // trace names those that stay; with the next failure, or the next ledger, all of them are tried again.
  for (const position of change.failedPositions) {
    const partly = await replacePositions(ports, change, [position]);
    if (partly.kind !== "refused") return partly;
  }
  return wholly;
}

async function replacePositions(
  ports: LedgerPorts,
  change: EnsembleChange,
  positions: readonly number[],
): Promise<EnsembleChangeAnswer> {
  const ledger = change.ledger.item;
  const fragment = lastFragment(ledger);
  const retired = new Set(ledger.retired);
  const unfit = new Set<BookieId>();
  while (true) {
    const chosen = chooseReplacements(ports, ledger, { fragment, positions, unfit, retired });
    if (chosen.kind === "refused") return chosen;
    const ensemble = chosen.ensemble;
    // Placement may have moved others too: each new member needs its copies, at any position (CE1).
    const changed = ensemble.flatMap((member, position) =>
      member.id === fragment.ensemble[position]?.id ? [] : [position],
    );
    const copies = await copyUnacknowledged(ports, change, changed, ensemble);
    if (copies.kind === "fenced") return copies;
    if (copies.kind === "failed") {
      // What was copied to them stays there as the same bytes; they are simply not used in this change (CE1).
      for (const id of copies.bookies) unfit.add(id);
      continue;
    }
    return await persist(ports, change, changed, ensemble);
  }
}

type CopyAnswer =
  | { readonly kind: "copied" }
  | { readonly kind: "failed"; readonly bookies: readonly BookieId[] }
  | { readonly kind: "fenced"; readonly reason: string };

/** Rule 6b. */
async function copyUnacknowledged(
  ports: LedgerPorts,
  change: EnsembleChange,
  positions: readonly number[],
  ensemble: Fragment["ensemble"],
): Promise<CopyAnswer> {
  const { ledgerId, replication } = change.ledger.item;
  const copies = positions.flatMap((position) => {
    const bookie = memberAt({ firstEntry: nextEntry(change.lastAddConfirmed), ensemble }, position);
    const wanted = (entry: SealedEntry) =>
      writeSetPositions(entry.header.entryId, replication).includes(position);
    return change.unacknowledged.filter(wanted).map(async (entry) => {
      const what = `copy ${entry.header.entryId}`;
      const answer = await callBookie(ports, { ledgerId, bookie, what }, (port) => port.add(entry));
      return { bookie: bookie.id, answer };
    });
  });
  const answers = await Promise.all(copies);
  const fenced = answers.find(({ answer }) => answer.kind === "fenced");
  if (fenced !== undefined) return { kind: "fenced", reason: `${fenced.bookie} is fenced` };
  const failed = answers.filter(({ answer }) => answer.kind === "unknown").map(({ bookie }) => bookie);
  return failed.length > 0 ? { kind: "failed", bookies: failed } : { kind: "copied" };
}

/** Rule 6c. A lost reply is re-read by the loop; what then counts is what is in the metadata. */
async function persist(
  ports: LedgerPorts,
  change: EnsembleChange,
  positions: readonly number[],
  ensemble: Fragment["ensemble"],
): Promise<EnsembleChangeAnswer> {
  const before = lastFragment(change.ledger.item);
  const firstEntry = nextEntry(change.lastAddConfirmed);
  const wanted: Fragment = { firstEntry, ensemble };
  let refusal: string | undefined;
  const { stored } = await changeItem(ports, change.ledger.key, "ledger", (item) => {
    if (item.state !== "OPEN" || !sameFragment(lastFragment(item), before)) return undefined;
    const next = replaceEnsemble(item, firstEntry, ensemble);
    if (next.fragments.length <= limits.fragmentsMax) return next;
    refusal = `the ledger has ${limits.fragmentsMax} fragments, the most it may have`;
    return undefined;
  });
  if (refusal !== undefined) return { kind: "refused", reason: refusal };
  const item = stored?.item;
  if (item?.state !== "OPEN") return { kind: "fenced", reason: `the ledger is ${item?.state ?? "missing"}` };
  if (stored === undefined || !sameFragment(lastFragment(item), wanted)) {
    return { kind: "fenced", reason: "another process changed the ensemble" };
  }
  const membersAt = (fragment: Fragment, at: readonly number[]) =>
    at.map((position) => memberAt(fragment, position).id);
  ports.trace.emit({
    event: "ensemble-changed",
    ledgerId: item.ledgerId,
    firstEntry,
    replaced: membersAt(before, positions),
    by: membersAt(wanted, positions),
    unreplaced: membersAt(
      before,
      change.failedPositions.filter((position) => !positions.includes(position)),
    ),
  });
  return { kind: "changed", ledger: { ...stored, item }, positions };
}

// ---------- Where new copies go

// The one way in which ledger code asks placement, and whether the answer may be followed, whichever policy
// gave it. The creation of a ledger, the writer's ensemble change and recovery's write-back ask before any
// copy goes out.

type Known = Pick<EnsembleRequest, "candidates" | "home" | "bookieStates" | "regionStates" | "quarantined">;

/** What this process knows of bookies. `avoid`: they just failed the caller, and are chosen last. */
export function knownBookies(ports: LedgerPorts, avoid: ReadonlySet<BookieId> = new Set()): Known {
  const candidates = ports.topology.bookies();
  const ids = candidates.map((candidate) => candidate.id);
  const states = ports.topology.states?.();
  return {
    candidates,
    home: ports.region,
    quarantined: new Set([...ports.health.doubtful(ids), ...avoid]),
    ...(states === undefined ? {} : { bookieStates: states.bookies, regionStates: states.regions }),
  };
}

interface Replacing {
  readonly fragment: Fragment;
  readonly positions: readonly number[];
  /** Bookies that have just failed. */
  readonly unfit: ReadonlySet<BookieId>;
  /** Bookies that left the ledger and may not come back (rule 7). */
  readonly retired?: ReadonlySet<BookieId>;
}

/** The fragment's ensemble with others at those positions; placement may move further ones too. */
export function chooseReplacements(
  ports: LedgerPorts,
  { ledgerId, replication }: LedgerMetadata,
  { fragment, positions, unfit, retired = new Set() }: Replacing,
): PlacementAnswer {
  const answer = ports.placement.replaceBookies({
    ledgerId,
    replication,
    ...knownBookies(ports),
    excluded: unfit,
    retired,
    fragment,
    positions,
    othersMayLeave: true,
  });
  const barred = new Set([...retired, ...unfit]);
  return judgeReplacement(answer, { before: fragment.ensemble, replication, barred });
}

interface Replaced {
  readonly before: Fragment["ensemble"];
  readonly replication: Replication;
  /** Bookies that must not come in: they left the ledger (rule 7), or have just failed. */
  readonly barred: ReadonlySet<BookieId>;
}

/** The answer itself, or a refusal that says what is wrong with it. */
export function judgeReplacement(answer: PlacementAnswer, replaced: Replaced): PlacementAnswer {
  if (answer.kind === "refused") return answer;
  const fault = faultOf(answer.ensemble, replaced);
  return fault === undefined ? answer : { kind: "refused", reason: `placement is at fault: ${fault}` };
}

function faultOf(ensemble: Fragment["ensemble"], replaced: Replaced): string | undefined {
  const { before, replication, barred } = replaced;
  const old = new Map(before.map((member, position) => [member.id, position]));
  for (const [position, { id }] of ensemble.entries()) {
    const stood = old.get(id);
    if (stood === undefined && barred.has(id)) return `${id} may not be used in this ledger any more`;
    if (stood !== undefined && stood !== position) return `${id} was moved to position ${position}`;
  }
  const check = checkEnsemble(ensemble, replication, before);
  if (check.kind === "illegal") return check.reason;
  const fragment = { firstEntry: entryId(0), ensemble };
  const hopeless = ensemble.some(
    (_, start) => !isAckSet(writeSet(entryId(start), fragment, replication), replication),
  );
  return hopeless ? "a write set could never be acknowledged" : undefined;
}
