/**
 * What auditors see to when nothing goes wrong any more: what a writer that is gone left open is closed, ledgers
 * that no item names are deleted, and of what is deleted nothing is left when the seal age is over (rule 15).
 */
import { type LedgerListing, ledgerKey, ledgerListingKey, segmentKey } from "../../lib/protocol/items.ts";
import type { LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../lib/protocol/limits.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import { auditorIn } from "./actors/region-auditor-actor.ts";
import type { Judge } from "./judge.ts";
import type { World } from "./world.ts";

/** By how much the clock of a ledger's creator or deleter may have been wrong, and more. */
const CLOCKS_MS = 48 * 3_600_000;
const PASSES = 4;

export async function judgeAudits(judge: Judge): Promise<void> {
  const { world } = judge;
  if (!world.plan.actors.some(({ kind }) => kind === "region-auditor")) return;
  await pause(judge.ports.clock, CLOCKS_MS);
  await demandAudited(judge, "auditors leave every ledger in order", (one) => disorderOf(world, one));
  await pause(judge.ports.clock, limits.sealAgeMs + CLOCKS_MS);
  await demandAudited(judge, "auditors leave nothing of deleted ledgers", (one) => remainsOf(judge, one));
}

/** One pass of an auditor in each region, all at once. */
export function auditAll(world: World): () => Promise<void> {
  const passes = [...world.fleets.keys()].map((region) =>
    auditorIn(world, world.startProcess(`judge-auditor-${region}`, region)),
  );
  return async () => void (await Promise.all(passes.map((pass) => pass())));
}

async function demandAudited(
  judge: Judge,
  what: string,
  wrongWith: (listing: LedgerListing) => string | undefined,
): Promise<void> {
  const { world } = judge;
  const audits = auditAll(world);
  // Passes are bounded, and slow where bookies are far.
  for (let pass = 0; pass < PASSES; pass++) await audits();
  const wrong = () => {
    for (const { item } of world.table.itemsOf("ledger")) {
      if (isForgotten(world, item)) return `ledger ${item.ledgerId} is in no auditor's list`;
    }
    for (const { item } of world.table.itemsOf("ledger-listing")) {
      // A region without functions has no auditor either.
      const reason = world.fleets.has(item.region) ? wrongWith(item) : undefined;
      if (reason !== undefined) return `ledger ${item.ledgerId} of ${item.region}: ${reason}`;
    }
    return undefined;
  };
  await judge.demand(
    what,
    () => ({ kind: "audit", region: judge.ports.region }),
    async () => {
      await audits();
      const reason = wrong();
      return reason === undefined ? { kind: "done", at: 0 } : { kind: "none", reason };
    },
    ({ kind }) => kind === "done",
  );
}

/**
 * The listing goes last. One whose creation failed half way, or came so late that its listing was taken for
 * nobody's, may be in no list: it never held anything, and names no segment. Where clocks are wrong by hours an
 * auditor may take a listing for old that was made just now, before its ledger is there.
 */
function isForgotten({ table, fleets, plan }: World, ledger: LedgerMetadata): boolean {
  if (plan.faults.some(({ kind }) => kind.startsWith("clock-"))) return false;
  const { ledgerId, origin } = ledger;
  if (origin === undefined || !fleets.has(origin.ownerRegion)) return false;
  if (table.get(ledgerListingKey(origin.ownerRegion, ledgerId)) !== undefined) return false;
  const named = table.get(segmentKey(origin.log, origin.firstSeqNum))?.item;
  const isNamed = named?.kind === "segment" && named.ledgerId === ledgerId;
  return isNamed || ("lastEntry" in ledger && ledger.lastEntry >= 0);
}

function disorderOf(world: World, { ledgerId, region, sweptAtMs }: LedgerListing): string | undefined {
  const ledger = world.table.get(ledgerKey(ledgerId))?.item;
  if (ledger?.kind !== "ledger") return "its listing is left";
  if (ledger.state === "DELETED") return sweptAtMs === undefined ? "its entries are left" : undefined;
  if (ledger.origin === undefined) return undefined;
  const { log, firstSeqNum } = ledger.origin;
  const named = world.table.get(segmentKey(log, firstSeqNum))?.item;
  if (named?.kind !== "segment" || named.ledgerId !== ledgerId) return "no item names it";
  if (ledger.state === "CLOSED") return undefined;
  const lease = world.leaseTable(region).read(log)?.lease;
  const isIdle = ledger.state === "OPEN" && lease?.clean === true && lease.tail?.ledgerId === ledgerId;
  return isIdle ? undefined : `it is ${ledger.state}, and its writer is gone`;
}

function remainsOf({ world, ports }: Judge, { ledgerId }: LedgerListing): string | undefined {
  const ledger = world.table.get(ledgerKey(ledgerId))?.item;
  if (ledger?.kind !== "ledger") return "its listing is left";
  if (ledger.state !== "DELETED") return undefined;
  return ports.clock.nowMs() - ledger.deletedAtMs >= limits.sealAgeMs ? "it is past its seal age" : undefined;
}
