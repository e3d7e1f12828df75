/** A ledger's metadata as the store has it: a consistent read, and the one way in which it is changed. */
import { assert } from "../assert.ts";
import type { Age } from "../deadline.ts";
import type { LedgerId } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { MetadataStore, Versioned } from "../ports.ts";
import { type UpdatePorts, updateItem } from "../update-item.ts";

type StoredLedger = Versioned<LedgerMetadata>;

/** Undefined: there is no such ledger. */
export async function readLedger(
  { metadata }: { readonly metadata: MetadataStore },
  id: LedgerId,
): Promise<StoredLedger | undefined> {
  return asLedger(await metadata.get(ledgerKey(id), "consistent"));
}

/** As `updateItem`. `change` returns what is written in place of what was read; undefined keeps that. */
export async function updateLedger(
  ports: UpdatePorts,
  id: LedgerId,
  change: (ledger: LedgerMetadata | undefined) => LedgerMetadata | undefined,
): Promise<{ readonly stored: StoredLedger | undefined; readonly wrote: boolean }> {
  const { stored, wrote } = await updateItem(ports, ledgerKey(id), (current) => {
    const item = change(asLedger(current)?.item);
    return item === undefined ? { kind: "keep" } : { kind: "write", item };
  });
  return { stored: asLedger(stored), wrote };
}

function asLedger(stored: Versioned | undefined): StoredLedger | undefined {
  if (stored === undefined) return undefined;
  const { item } = stored;
  assert(item.kind === "ledger", "a ledger's key holds a ledger");
  return { ...stored, item };
}

/**
 * Whether what was read may still be answered from: the one clock assumption (rule 15). A process whose last
 * consistent metadata read is older than a quarter of the seal age acknowledges nothing and answers nothing
 * until it has read again. Measured by both clocks: a frozen process's monotonic one may stand still, and a
 * wall clock that went back proves nothing. `readAt`: from before the read began.
 */
export function isFresh(readAt: Age | undefined): boolean {
  return readAt?.isWithin(limits.metadataAgeMaxMs) === true;
}
