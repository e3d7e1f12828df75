/**
 * How a log goes from one region to another by leave of the first: the owner takes the pen of its own region,
 * closes the ledger cleanly (rule 9), and has the next owner elect itself with the next segment. May run
 * twice, and in several processes at once: who owns the log is what its last segment says.
 *
 * H1 The pen stays with the leaver until the election is over, so that no other process of its region opens
 *    a segment meanwhile. If one does all the same, or the election fails, the log stays where it is.
 * H2 The next owner leaves its pen clean behind itself: its first append goes on in the fresh ledger.
 */
import { FencelineError } from "../../errors.ts";
import { LedgerWriter } from "../../ledger/ledger-writer.ts";
import { ActiveSegment } from "../appending/active-segment.ts";
import { unknownOutcome } from "../appending/append-errors.ts";
import { WriterTenure } from "../lease/writer-tenure.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LogPorts } from "../log-ports.ts";
import { boundedOpening, type OpenRequest, openSegment } from "../opening/open-segment.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import type { TakeoverPermit } from "../opening/takeover-permit.ts";
import type { Ownership } from "../operations.ts";

/**
 * The owner's part. This process has let go of the pen before. Throws what the lease, and `elect`, throw. A
 * ledger that could not be closed here is recovered by the next owner.
 */
export async function handOver(
  ports: LogPorts,
  log: LogIdentity,
  elect: () => Promise<Ownership>,
): Promise<Ownership> {
  const tenure = new WriterTenure(ports, log);
  await tenure.enter();
  try {
    const left = await tenure.resume();
    if (left !== undefined) await closeCleanly(ports, left, tenure);
    return await elect(); // H1
  } finally {
    await tenure.release();
  }
}

async function closeCleanly(ports: LogPorts, left: OpenedSegment, tenure: WriterTenure): Promise<void> {
  try {
    await new LedgerWriter(ports, left.ledger, tenure.startOf(left)).close();
  } catch (error) {
    if (!(error instanceof FencelineError)) throw error;
  }
}

/**
 * The next owner's part. The permit is as old as what allows it: a process that froze before this takes
 * nothing from an owner that goes on. Throws what the lease and openings throw.
 */
export async function takeOver(
  ports: LogPorts,
  log: LogIdentity,
  permit: TakeoverPermit,
): Promise<Ownership> {
  const tenure = new WriterTenure(ports, log);
  await tenure.enter();
  let segment: ActiveSegment | undefined;
  try {
    const allowed = { avoid: new Set(tenure.suspects), takeFrom: permit.from };
    const open = async (request: OpenRequest) =>
      (await tenure.resume()) ?? (await openSegment(ports, log, request));
    const opened = await boundedOpening(ports, `taking over log ${log.name}`, allowed, open);
    segment = new ActiveSegment(ports, log, opened, tenure.startOf(opened), {
      refused: () => {},
      changed: () => {},
      doubt: (batch) => unknownOutcome(log.name, batch, undefined),
    });
    return { owner: ports.region, epoch: opened.item.number };
  } finally {
    await tenure.release(segment?.leave()); // H2
  }
}
