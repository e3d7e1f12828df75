/**
 * Names of a bookie's objects. Plain ASCII, so that every store sorts them alike.
 *
 *     <hash>/<ledger>/entry-<inverted entry id>     a slot; the newest sorts first
 *     <hash>/<ledger>/fence                         behind the ledger's slots
 *     incarnation                                   behind everything else
 *
 * The hash of the ledger id comes first and spreads ledgers over an object store's partitions; a ledger's
 * objects stay together. Each name says by itself what it is, so a sweeper needs no look-up. Never change
 * a name: stored ones are found by it.
 */
import { assert } from "../protocol/assert.ts";
import type { EntryId, LedgerId } from "../protocol/ids.ts";
import type { StoreKey } from "../protocol/ports.ts";

const INCARNATION = "incarnation";
const FENCE = "fence";
const DIGITS = 16;
const namePattern = /^([0-9a-f]{4})\/([0-9]{16})\/(?:entry-([0-9]{16})|fence)$/;

export function objectKey(key: StoreKey): string {
  switch (key.kind) {
    case "incarnation":
      return INCARNATION;
    case "fence":
      return `${ledgerPrefix(key.ledgerId)}${FENCE}`;
    case "slot":
      return `${ledgerPrefix(key.ledgerId)}entry-${inverted(key.entryId)}`;
  }
}

/** What an object's name stands for; undefined for a name that we never give. */
export function parseObjectKey(name: string): StoreKey | undefined {
  if (name === INCARNATION) return { kind: "incarnation" };
  const [, hash, ledgerDigits, entryDigits] = namePattern.exec(name) ?? [];
  const ledgerId = Number(ledgerDigits) as LedgerId;
  if (!Number.isSafeInteger(ledgerId) || hash !== ledgerHash(ledgerId)) return undefined;
  if (entryDigits === undefined) return { kind: "fence", ledgerId };
  const entryId = Number.MAX_SAFE_INTEGER - Number(entryDigits);
  // A number above 2^53 reads inexactly, and no id of ours stands behind it.
  return entryId < 0 ? undefined : { kind: "slot", ledgerId, entryId: entryId as EntryId };
}

/** What the names of all of a ledger's objects start with. */
export function ledgerPrefix(ledgerId: LedgerId): string {
  assert(Number.isSafeInteger(ledgerId) && ledgerId >= 0, `not a ledger id: ${ledgerId}`);
  return `${ledgerHash(ledgerId)}/${digits(ledgerId)}/`;
}

/** The first string behind every name that starts with `prefix`, which ends with a slash. */
export function behindPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

/** Every ledger's names lie before this string; the incarnation does not. */
export const BEHIND_LEDGERS = "g";

function inverted(entryId: EntryId): string {
  assert(Number.isSafeInteger(entryId) && entryId >= 0, `entry ${entryId} has no slot`);
  return digits(Number.MAX_SAFE_INTEGER - entryId);
}

function digits(value: number): string {
  return String(value).padStart(DIGITS, "0");
}

/** FNV-1a over the padded decimal digits, folded to 16 bits. */
function ledgerHash(ledgerId: LedgerId): string {
  const text = digits(ledgerId);
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) & 0xffff).toString(16).padStart(4, "0");
}
