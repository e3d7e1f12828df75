/**
 * Whether a policy's answer may be followed, whoever the policy is: asked by the writer's ensemble change and
 * by recovery's write-back before any copy goes out.
 */
import { type BookieId, entryId } from "../ids.ts";
import { checkEnsemble } from "../placement/check-ensemble.ts";
import type { PlacementAnswer } from "../placement/placement.ts";
import type { Fragment, Replication } from "../replication.ts";
import { isAckSet, writeSet } from "../write-set.ts";

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
