/** One read of one slot, bounded in time, as the read policy sends it. */
import type { CallSignal } from "../call-abort.ts";
import type { EntryId, LedgerId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAnswer } from "../ports.ts";
import { within } from "../waiting.ts";
import { entryCall } from "./ask-bookie.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

export function readCall(
  ports: LedgerPorts,
  ledgerId: LedgerId,
  entry: EntryId,
): (bookie: BookieAddress, signal: CallSignal) => Promise<ReadAnswer> {
  return (bookie, signal) => {
    const ask = () => ports.bookies.bookie(bookie.id).read(ledgerId, entry, signal);
    return within(ports.clock, limits.bookieCallTimeoutMs, entryCall("read", entry), ask, signal);
  };
}
