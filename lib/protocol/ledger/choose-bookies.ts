/**
 * Where new copies go: the one way in which ledger code asks placement, and whether the answer may be
 * followed, whichever policy gave it. Asked by the creation of a ledger, by the writer's ensemble change and
 * by recovery's write-back before any copy goes out.
 */
import { type BookieId, entryId } from "../ids.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import { checkEnsemble } from "../placement/check-ensemble.ts";
import type { EnsembleRequest, PlacementAnswer } from "../placement/placement.ts";
import { type Fragment, isAckSet, type Replication, writeSet } from "../replication.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

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
