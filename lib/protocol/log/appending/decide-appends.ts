/**
 * What a failed segment leaves behind: recovery says of each append in flight whether it is recorded.
 * Recorded ones are acknowledged, those certainly not recorded go to the next segment, and what nobody can
 * tell is told as just that (rule 8).
 */
import { present } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import { decideEntries, type EntryVerdict } from "../../ledger/decide-entries.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { limits } from "../../limits.ts";
import { backoff } from "../../waiting.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { ActiveSegment } from "./active-segment.ts";
import { unknownOutcome } from "./append-errors.ts";
import type { PendingAppend } from "./pending-appends.ts";
import type { SentEntry } from "./place-appends.ts";

/** Answers what can be answered; returns, in order, what is certainly not recorded. */
export async function decideAppends(
  ports: LedgerPorts,
  log: LogIdentity,
  segment: ActiveSegment,
): Promise<readonly PendingAppend[]> {
  const left = segment.takeUnacknowledged();
  const { lastAddPushed } = segment.writer;
  const inDoubt = left.filter((one): one is SentEntry => one.kind === "sent" && one.entryId <= lastAddPushed);
  const verdicts = await verdictsOn(ports, segment, inDoubt);
  const notRecorded: PendingAppend[] = [];
  for (const one of left) {
    if (one.kind === "refused") {
      notRecorded.push(one.append);
      continue;
    }
    const isInDoubt = one.entryId <= lastAddPushed;
    const verdict = isInDoubt ? present(verdicts.get(one), "every entry in doubt is decided") : NEVER_SENT;
    if (verdict.kind === "recorded") segment.acknowledge(one, verdict.regions);
    else if (verdict.kind === "not-recorded") notRecorded.push(...notRecordedOf(one));
    else for (const batch of one.batches) batch.append.fail(unknownOutcome(log.name, batch, verdict.cause));
  }
  return notRecorded;
}

function notRecordedOf({ batches }: SentEntry): readonly PendingAppend[] {
  return batches.map(({ append }) => {
    append.notRecorded();
    return append;
  });
}

type Verdict = EntryVerdict | { readonly kind: "unknown"; readonly cause: FencelineError };

const NEVER_SENT: Verdict = { kind: "not-recorded" };

async function verdictsOn(
  ports: LedgerPorts,
  segment: ActiveSegment,
  inDoubt: readonly SentEntry[],
): Promise<ReadonlyMap<SentEntry, Verdict>> {
  if (inDoubt.length === 0) return new Map();
  const { ledgerId } = segment.opened.ledger.item;
  for (let attempt = 1; ; attempt++) {
    try {
      const verdicts = await decideEntries(ports, ledgerId, segment.writer.tenure, inDoubt);
      return new Map(inDoubt.map((sent, index) => [sent, present(verdicts[index], "a verdict for each")]));
    } catch (error) {
      if (!(error instanceof FencelineError)) throw error;
      const nobodyWaits = inDoubt.every((sent) => sent.batches.every(({ append }) => append.isAnswered));
      if (!error.retryable || nobodyWaits || attempt >= limits.decideAttempts) {
        return new Map(inDoubt.map((sent) => [sent, { kind: "unknown", cause: error }]));
      }
    }
    await backoff(ports, attempt);
  }
}
