/**
 * Collects ledgers: marks closed ones as deleted, sweeps whatever it comes upon, and comes back for the seals
 * when their age is over. It asks for sweeps of ledgers that are in use as well; the answer must then be no.
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import {
  markDeleted,
  type SweepAnswer,
  sweepEntries,
  sweepSeal,
} from "../../../lib/protocol/ledger/end-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import type { Answer } from "../history.ts";
import type { LedgerCollectorPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

const DAY_MS = 24 * 3_600_000;

export async function collectLedgers(actor: Actor<LedgerCollectorPlan>): Promise<void> {
  const met = new Set<LedgerId>();
  while (actor.takesOne()) {
    await actor.rest();
    const ledgerId = actor.world.ledgers.pick(actor.random);
    if (ledgerId === undefined) continue;
    met.add(ledgerId);
    await collect(actor, ledgerId);
  }
  await pause(actor.ports.clock, limits.sealAgeMs + actor.random.between(-2, 5) * DAY_MS);
  for (const ledgerId of met) {
    await record(actor, ledgerId, async () => swept(await sweepSeal(actor.ports, ledgerId)));
  }
}

async function collect(actor: Actor<LedgerCollectorPlan>, ledgerId: LedgerId): Promise<void> {
  const { ports, random } = actor;
  if (random.chance(0.5)) {
    await record(actor, ledgerId, async () => {
      const deleted = await markDeleted(ports, ledgerId);
      return { kind: "none", reason: deleted === undefined ? "not closed" : "deleted" };
    });
  }
  if (random.chance(0.7)) {
    await record(actor, ledgerId, async () => swept(await sweepEntries(ports, ledgerId)));
  }
  if (random.chance(0.3)) {
    await record(actor, ledgerId, async () => swept(await sweepSeal(ports, ledgerId)));
  }
}

function record(
  actor: Actor<LedgerCollectorPlan>,
  ledgerId: LedgerId,
  act: () => Promise<Answer>,
): Promise<Answer> {
  return actor.world.history.record(actor.process, { kind: "collect", ledgerId }, act);
}

export const swept = ({ kind }: SweepAnswer): Answer => ({ kind: "none", reason: kind });
