/**
 * Asks bookies how far a ledger is confirmed, for readers, who change nothing. Any answer is a lower bound
 * (rule 13, T1), so one bookie will do where speed is all; each poll begins at the next one of the ensemble,
 * so that of bookies equally near no one gets all the polls, and none that lags holds back every reader.
 */

import { isGenuine } from "../entry.ts";
import { type EntryId, NO_ENTRY } from "../ids.ts";
import { type LedgerMetadata, lastFragment } from "../ledger-metadata.ts";
import type { BookieAddress } from "../place.ts";
import type { TailAnswer } from "../ports.ts";
import type { ReadCounters } from "../reads/read-counters.ts";
import type { Part, QuorumAnswer, QuorumRead } from "../reads/speculative-read.ts";
import { quorumRead } from "../reads/speculative-read.ts";
import { coversEveryWriteSet, positionsOf } from "../write-set.ts";
import { callOnce } from "./call-bookie.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

type Parts = readonly Part<EntryId>[];

interface TailGoal {
  readonly isEnough: (parts: Parts) => boolean;
  /** One at a time, the next when it is slow or fails; else all at once. */
  readonly isPaced: boolean;
  readonly cost: ReadCounters | undefined;
}

/** What the nearest bookie that answers names; NO_ENTRY if none answers. `poll` counts the caller's polls. */
export async function nearestConfirmed(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  poll: number,
  cost?: ReadCounters,
): Promise<EntryId> {
  const { ensemble } = lastFragment(ledger);
  const at = poll % ensemble.length;
  const asked = [...ensemble.slice(at), ...ensemble.slice(0, at)];
  return highestOf(
    await askTails(ports, ledger, asked, { isEnough: (parts) => parts.length > 0, isPaced: true, cost }),
  );
}

/**
 * The highest that bookies name, enough of them to leave no write set that could have reached its ack quorum
 * on the silent ones alone; fewer if no more answer.
 */
export async function highestConfirmed(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  cost?: ReadCounters,
): Promise<EntryId> {
  const fragment = lastFragment(ledger);
  const isEnough = (parts: Parts) => {
    const heard = positionsOf(fragment, new Set(parts.map(({ bookie }) => bookie.id)));
    return coversEveryWriteSet(new Set(heard), ledger.replication);
  };
  const goal = { isEnough, isPaced: false, cost };
  return highestOf(await askTails(ports, ledger, fragment.ensemble, goal));
}

/** The last add confirmed that a bookie's answer proves. */
export function confirmedBy(ports: LedgerPorts, ledger: LedgerMetadata, { highest }: TailAnswer): EntryId {
  // A damaged entry still proves a fence; its header proves nothing (H22).
  if (highest === undefined || !isGenuine(ports.digest, ledger, highest)) return NO_ENTRY;
  return highest.header.lastAddConfirmed;
}

function askTails(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  ensemble: readonly BookieAddress[],
  { isEnough, isPaced, cost }: TailGoal,
): Promise<QuorumAnswer<EntryId, Parts>> {
  const read: QuorumRead<TailAnswer, EntryId, Parts> = {
    kind: "tail",
    writeSet: ensemble,
    cost,
    call: (bookie, signal) =>
      callOnce(ports, bookie, "tail", (port) => port.tail(ledger.ledgerId, signal), signal),
    judge: (answer) => {
      const isDamaged = answer.highest !== undefined && !isGenuine(ports.digest, ledger, answer.highest);
      if (isDamaged) return { usable: false, said: "has a damaged tail" };
      return { usable: true, value: confirmedBy(ports, ledger, answer) };
    },
    conclude: (parts) => (isEnough(parts) ? { value: parts } : undefined),
    couldConclude: () => isPaced,
  };
  return quorumRead(ports.reads, read);
}

function highestOf(read: QuorumAnswer<EntryId, Parts>): EntryId {
  const parts = read.kind === "answer" ? read.value : read.parts;
  let highest = NO_ENTRY;
  for (const { value } of parts) if (value > highest) highest = value;
  return highest;
}
