/**
 * Rolls: closes the segment with nothing outstanding and starts the next one at its end (rules 9, 23). From
 * the conditional write on it is the same as opening; where anything gets in the way, it is opening.
 */
import type { LedgerWriter } from "../../ledger/ledger-writer.ts";
import { completeSegment } from "../chain/complete-segment.ts";
import { segmentEnd } from "../chain/segment-end.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LogPorts } from "../log-ports.ts";
import { completionOf, type OpenRequest, openSegment, placeBehind } from "./open-segment.ts";
import { type OpenedSegment, startSegment } from "./start-segment.ts";

/** Throws as `openSegment` does. The segment is not written to any more, whatever comes of it. */
export async function rollSegment(
  ports: LogPorts,
  log: LogIdentity,
  full: OpenedSegment,
  writer: LedgerWriter,
  request: OpenRequest,
): Promise<OpenedSegment> {
  const closed = await writer.close();
  const end = await segmentEnd(ports, full.first, closed);
  if (end.end > full.first) {
    // Nothing was outstanding: what this process knows of the producers is all there is.
    const place = { ...placeBehind(full, end, "rolled"), producers: full.producers };
    const [start] = await Promise.all([
      startSegment(ports, log, place, request),
      completeSegment(ports, log.log, { ...full.item, first: full.first }, completionOf(closed, end)),
    ]);
    if (start.kind === "started") return start.segment;
  }
  return await openSegment(ports, log, request);
}
