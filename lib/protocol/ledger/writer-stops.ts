/**
 * Why a writer stopped, said to its callers (rule 8): what was sent may have been recorded, and recovery will
 * decide; what no bookie has seen was not.
 */
import { type BookieWord, FencelineError, insufficientRegions, verdictOf } from "../errors.ts";
import type { LedgerId } from "../ids.ts";
import { lastFragment, type OpenLedger } from "../ledger-metadata.ts";
import { memberAt, writeSetPositions } from "../write-set.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import type { MetadataAge } from "./metadata-age.ts";
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

/** Reads the metadata again. Undefined: the ledger is open, and its age counts from here. */
export async function whyNotOpen(
  ports: LedgerPorts,
  age: MetadataAge,
  ledgerId: LedgerId,
): Promise<FencelineError | undefined> {
  const read = await age.readState(ports, ledgerId);
  if (read.kind === "silent") {
    return metadataSilent(ledgerId, "its metadata could not be read again", read.error);
  }
  return read.state === "OPEN" ? undefined : fenced(ledgerId, `the ledger is ${read.state}`);
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
