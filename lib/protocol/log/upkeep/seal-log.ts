/**
 * Seals a log (rules 24, 25, 29): opens it for write, with an END item in place of the next segment. May run
 * twice, and in several processes at once.
 *
 * SL1 The END takes part in the election of rule 24: of a sealer and an opener at one key one loses, and
 *     looks again. Over an empty last segment it takes over that very item. Hence nothing is appended behind
 *     an END.
 * SL2 No caller gets "sealed" before the check of rule 25: an END that won far below, where the items were
 *     trimmed away, ends nothing (T06).
 * SL3 An END of another sealer is as good as one's own, but is checked all the same: its sealer may not have
 *     come that far.
 */
import { FencelineError, notReady, withSideEffects } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import type { EndItem } from "../../items.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { limits } from "../../limits.ts";
import { backoff } from "../../waiting.ts";
import { lastItem } from "../chain/segments.ts";
import type { LogRef } from "../log-ref.ts";
import { CHANGED, placeAfter } from "../opening/open-segment.ts";
import { checkPlace, takePlace } from "../opening/start-segment.ts";

/**
 * Where the log ends, for ever: the seq_num after its last record. Throws `log_not_found` if the log is gone
 * or being deleted, `not_ready` when writers keep getting ahead, and what recovery and the ports throw; the
 * log may then be sealed, or be sealed later.
 */
export async function sealLog(ports: LedgerPorts, log: LogRef): Promise<SeqNum> {
  let reason = "";
  for (let restart = 0; restart <= limits.appendRestartsMax; restart++) {
    if (restart > 0) await backoff(ports, restart);
    const outcome = await sealOnce(ports, log);
    if (outcome.kind === "sealed") return outcome.tail;
    reason = outcome.reason;
  }
  const why = `writers kept getting ahead (${reason})`;
  throw notReady(`log ${log.name}: it could not be sealed, ${why}; try again`, "sealing", {
    sideEffects: "possible",
  });
}

type Attempt =
  | { readonly kind: "sealed"; readonly tail: SeqNum }
  /** Somebody else has that place, or it was trimmed away: query again. */
  | { readonly kind: "lost"; readonly reason: string };

async function sealOnce(ports: LedgerPorts, log: LogRef): Promise<Attempt> {
  const last = await lastItem(ports.metadata, log.incarnation, "consistent");
  if (last?.kind === "end") return attempt(last.first, await checkPlace(ports, log, last.first)); // SL3
  const place = await placeAfter(ports, log, last);
  if (place === undefined) return { kind: "lost", reason: CHANGED };
  const end: EndItem = { kind: "end", number: place.number };
  const lost = await mayHaveSealed(() => takePlace(ports, log, place, end));
  if (lost === undefined) ports.trace.emit({ event: "log-sealed", log: log.incarnation, tail: place.first });
  return attempt(place.first, lost);
}

function attempt(tail: SeqNum, lost: string | undefined): Attempt {
  return lost === undefined ? { kind: "sealed", tail } : { kind: "lost", reason: lost };
}

/** An END may stand where the answer to it, or the check behind it, was lost. */
export async function mayHaveSealed<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof FencelineError) || error.code === "log_not_found") throw error;
    throw error.sideEffects === "possible" ? error : withSideEffects(error, "possible");
  }
}
