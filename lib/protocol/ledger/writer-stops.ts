/**
 * Why a writer stopped, said to its callers (rule 8): what was sent may have been recorded, and recovery will
 * decide; what no bookie has seen was not.
 */
import { Age } from "../deadline.ts";
import { type BookieWord, FencelineError, insufficientRegions, verdictOf } from "../errors.ts";
import type { LedgerId } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import { lastFragment, type OpenLedger } from "../ledger-metadata.ts";
import { memberAt, writeSetPositions } from "../write-set.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import type { PendingAdd } from "./pending-adds.ts";

export function fenced(ledgerId: LedgerId, reason: string): FencelineError {
  const message = `ledger ${ledgerId}: ${reason}; recovery decides what was recorded`;
  return new FencelineError("fenced", { message });
}

export function beingClosed(ledgerId: LedgerId): FencelineError {
  const message = `ledger ${ledgerId} is being closed by its writer`;
  return new FencelineError("not_ready", { message, sideEffects: "none" });
}

export function metadataSilent(ledgerId: LedgerId, what: string, cause: unknown): FencelineError {
  return new FencelineError("unavailable", { message: `ledger ${ledgerId}: ${what}`, cause });
}

/** Reads the metadata again. From before the read began if the ledger is open, else why the writer stops. */
export async function seenOpen(
  { clock, metadata }: LedgerPorts,
  ledgerId: LedgerId,
): Promise<Age | FencelineError> {
  const readAt = new Age(clock);
  try {
    const item = (await metadata.get(ledgerKey(ledgerId), "consistent"))?.item;
    const state = item?.kind === "ledger" ? item.state : "missing";
    return state === "OPEN" ? readAt : fenced(ledgerId, `the ledger is ${state}`);
  } catch (error) {
    return metadataSilent(ledgerId, "its metadata could not be read again", error);
  }
}

/** Too few bookies can be had for `add`; says who answered what. */
export function outOfBookies(ledger: OpenLedger, add: PendingAdd, reason: string): FencelineError {
  const fragment = lastFragment(ledger);
  const positions = writeSetPositions(add.entry.header.entryId, ledger.replication);
  const verdicts = positions.map((position) => {
    const reason = add.failed.get(position) ?? "no answer yet";
    const word: BookieWord = add.acked.has(position)
      ? { kind: "answered", said: "stored it" }
      : { kind: "unknown", reason };
    return verdictOf(memberAt(fragment, position), word);
  });
  return insufficientRegions(`ledger ${ledger.ledgerId}: ${reason}`, verdicts, "possible");
}

/** The same reason for an add that no bookie has seen. */
export function notSent(reason: FencelineError): FencelineError {
  const { message, details, retryable } = reason;
  return new FencelineError(reason.code, { message, details, retryable, sideEffects: "none", cause: reason });
}
