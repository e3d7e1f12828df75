/**
 * Creates a ledger: a random id, an ensemble, one put-if-absent. Whether the id was free is the store's
 * word; a lost reply is settled by the write token (UPD2), so a ledger is never created twice. A log's ledger
 * is listed for the auditor beside that, and before anybody writes to it.
 */
import { assert } from "../assert.ts";
import { Age } from "../deadline.ts";
import { FencelineError, notReady } from "../errors.ts";
import { type BookieId, type LedgerId, newLedgerId } from "../ids.ts";
import { ledgerKey, ledgerListingKey } from "../items.ts";
import { type LedgerOrigin, newLedger, type OpenLedger } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { Versioned } from "../ports.ts";
import type { Fragment, LedgerDigest, Replication } from "../replication.ts";
import { updateItem } from "../update-item.ts";
import { knownBookies } from "./change-ensemble.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

interface CreateLedgerRequest {
  readonly replication: Replication;
  readonly digest: LedgerDigest;
  readonly origin?: LedgerOrigin;
  /** Bookies that just failed: used only if there is no ensemble without them. */
  readonly avoid?: ReadonlySet<BookieId>;
}

/** An open ledger and when its metadata was last known at first hand (rule 15's clock assumption). */
export interface CreatedLedger extends Versioned<OpenLedger> {
  /** From before the write that created it, or from before it was last read. */
  readonly readAt: Age | undefined;
}

export async function createLedger(ports: LedgerPorts, request: CreateLedgerRequest): Promise<CreatedLedger> {
  const { avoid, ...fields } = request;
  for (let attempt = 0; attempt < limits.updateRoundsMax; attempt++) {
    const ledgerId = newLedgerId(ports.random);
    const readAt = new Age(ports.clock);
    const ensemble = chooseEnsemble(ports, ledgerId, request.replication, avoid);
    const item = newLedger({ ledgerId, ...fields, ensemble, createdAtMs: ports.clock.nowMs() });
    const [{ stored, wrote }] = await Promise.all([
      updateItem(ports, ledgerKey(ledgerId), (current) => (current === undefined ? item : undefined)),
      item.origin === undefined ? undefined : list(ports, item.origin, item),
    ]);
    if (!wrote) continue;
    assert(stored !== undefined, "a write leaves an item");
    ports.trace.emit({ event: "ledger-created", ledgerId, ensemble: ensemble.map((member) => member.id) });
    return { ...stored, item, readAt };
  }
  throw notReady("no free ledger id was found: the random port repeats itself");
}

/** Should the id be taken, its listing is as good for the ledger that has it. */
async function list(
  ports: LedgerPorts,
  { ownerRegion: region }: LedgerOrigin,
  { ledgerId, createdAtMs }: OpenLedger,
): Promise<void> {
  const listing = { kind: "ledger-listing", ledgerId, region, createdAtMs } as const;
  await updateItem(ports, ledgerListingKey(region, ledgerId), (current) =>
    current === undefined ? listing : undefined,
  );
}

function chooseEnsemble(
  ports: LedgerPorts,
  ledgerId: LedgerId,
  replication: Replication,
  avoid: ReadonlySet<BookieId> | undefined,
): Fragment["ensemble"] {
  const known = knownBookies(ports, avoid);
  const answer = ports.placement.chooseEnsemble({ ledgerId, replication, ...known, excluded: new Set() });
  if (answer.kind === "ensemble") return answer.ensemble;
  throw new FencelineError("insufficient_regions", {
    message: `no ensemble for a new ledger: ${answer.reason}`,
    sideEffects: "none",
    details: { regions: [...new Set(known.candidates.map((candidate) => candidate.place.region))].sort() },
  });
}
