/** Recovers the last ledgers of a log, as an operator might: its writer is alive and finds itself fenced. */
import { logName } from "../../../lib/protocol/ids.ts";
import { startLogFunctions } from "../log-functions.ts";
import type { LogRecovererPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

export async function recoverLog(actor: Actor<LogRecovererPlan>): Promise<void> {
  const { world, plan, process } = actor;
  const { appends, reads } = startLogFunctions(world, process);
  while (actor.takesOne()) {
    await actor.rest();
    try {
      const last = (await reads.segments(logName(plan.log))).at(-1);
      if (last === undefined) continue;
      const { ledgerId } = last;
      await world.history.record(process, { kind: "recover", ledgerId }, async () => {
        const ledger = await appends.recoverLedger(ledgerId);
        if (ledger.state !== "CLOSED" && ledger.state !== "DELETED")
          return { kind: "none", reason: ledger.state };
        return { kind: "closed", lastEntry: ledger.lastEntry, length: ledger.length };
      });
    } catch (error) {
      world.expected(error);
    }
  }
}
