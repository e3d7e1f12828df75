/** A ledger's metadata as the store has it: a consistent read, and the one way in which it is changed. */
import { assert } from "../assert.ts";
import type { LedgerId } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
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
