/** Recovers ledgers of others, whatever their writers are doing. */

import { recoverLedger } from "../../../lib/protocol/ledger/recover-ledger.ts";
import type { ClosedLedger, DeletedLedger } from "../../../lib/protocol/ledger-metadata.ts";
import type { Answer } from "../history.ts";
import type { LedgerRecovererPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

export async function recoverLedgers(actor: Actor<LedgerRecovererPlan>): Promise<void> {
  while (actor.takesOne()) {
    await actor.rest();
    const ledgerId = actor.world.ledgers.pick(actor.random);
    if (ledgerId === undefined) continue;
    await actor.world.history.record(actor.process, { kind: "recover", ledgerId }, async () =>
      closedAnswer(await recoverLedger(actor.ports, ledgerId)),
    );
  }
}

export function closedAnswer(ledger: ClosedLedger | DeletedLedger | undefined): Answer {
  if (ledger === undefined) return { kind: "none", reason: "no such ledger" };
  return { kind: "closed", lastEntry: ledger.lastEntry, length: ledger.length };
}
