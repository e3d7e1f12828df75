/**
 * Trims a log (rule 30): says that records below a seq_num are not wanted any more. Readers that find their
 * segments gone get `position_trimmed`, and the auditor takes the segments away. May run twice, and at once
 * with others.
 *
 * TL1 The trim point moves forward only, by compare-and-set on the log item.
 * TL2 It never passes the tail as a strong read found it before; a tail never goes back. Beyond it, every
 *     opener would fail the check of rule 25 for ever.
 * TL3 A log that is being deleted is not changed.
 */
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { lastItem } from "../chain/segments.ts";
import { changeLog, type LogRef } from "../log-ref.ts";
import { findTail, type ReaderPorts } from "../reading/log-reader.ts";

/**
 * The trim point as it is then: `to`, or what was further on before. Throws `invalid_request`,
 * `position_unwritten` if `to` is beyond the tail, `log_not_found`, and what readers and ports throw.
 */
export async function trimLog(ports: ReaderPorts, log: LogRef, to: SeqNum): Promise<SeqNum> {
  checkPosition(to);
  await checkTail(ports, log, to);
  const { item, wrote } = await changeLog(
    ports,
    log, // TL3
    (now) => (now.trimPoint >= to ? undefined : { ...now, trimPoint: to }), // TL1
  );
  if (wrote) ports.trace.emit({ event: "log-trimmed", log: log.incarnation, trimPoint: to });
  return item.trimPoint;
}

function checkPosition(to: SeqNum): void {
  if (Number.isSafeInteger(to) && to >= 0) return;
  const detail = `an integer from 0 to ${Number.MAX_SAFE_INTEGER}, got ${to}`;
  throw new FencelineError("invalid_request", {
    message: `a log is trimmed to a seq_num, ${detail}`,
    details: { errors: [{ pointer: "seq_num", detail }] },
  });
}

/** TL2. The key of the last item is the end of a closed ledger, so the tail is no lower (rule 22). */
async function checkTail(ports: ReaderPorts, log: LogRef, to: SeqNum): Promise<void> {
  const last = await lastItem(ports.metadata, log.incarnation, "consistent");
  if (last !== undefined && last.first >= to) return;
  const { tail } = await findTail(ports, log, "strong");
  if (tail >= to) return;
  throw new FencelineError("position_unwritten", {
    message: `log ${log.name} ends at ${tail}, and cannot be trimmed to ${to}; trim to ${tail} at most`,
    details: { tail },
  });
}
