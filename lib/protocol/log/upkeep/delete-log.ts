/**
 * Deletes a log (rule 29) in two parts. The first makes it unreachable and is what the caller waits for: END,
 * check, the log item says "deleting". The second takes away what is left, and may be done by anybody, any
 * number of times: the ledgers, their items, the directory entry, the name.
 *
 *     END, check ──> deleting ──> each segment: recover, DELETED, remove item ──> directory entry, name
 *                        └──> answer
 *
 * DLG1 Nothing is taken away unless the log item, read consistently, says "deleting"; it says so only behind
 *      an END that passed its check. An opener of the log finds the END from then on, or fails the check.
 * DLG2 The END and the log item stay: an opener that froze before its put must lose against the END, or find
 *      in its check that the log is gone (T08). What such a zombie puts meanwhile the next pass removes.
 * DLG3 The name is released last and only while it names this incarnation: it is what a repeated call finds
 *      the log by. A name that was created again is another log's.
 * DLG4 The directory entry goes before the name, and only as it was when the name did not name another log:
 *      who creates the name again writes the entry afresh.
 */
import { AssertionError, assert } from "../../assert.ts";
import { FencelineError, hasCode } from "../../errors.ts";
import type { LogIncarnation, LogName } from "../../ids.ts";
import { directoryKey, type Item, type LogItem, logKey, logNameKey } from "../../items.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { limits } from "../../limits.ts";
import { changeItem, readItem, removeItem } from "../../update-item.ts";
import { type Ask, namedLog } from "../catalogue/log-names.ts";
import { removeFromChain } from "../chain/remove-from-chain.ts";
import { allItems } from "../chain/segments.ts";
import { logItem, logNotFound } from "../log-ref.ts";
import type { DeletionAnswer } from "../operations.ts";
import { mayHaveSealed, sealLog } from "./seal-log.ts";

/**
 * Deletes the log that the name names now, if it is `only` when that is given. "deleted": nothing of it is
 * left that a reader or a creator could meet. "deleting": nobody reads or writes it any more, but ledgers of
 * it, or its name, are left; call again, or leave it to a later pass. Throws `log_not_found`, and what
 * sealing or the ports throw; it may then be sealed, or deleted, all the same. `ask` bounds the look-up.
 */
export async function deleteLog(
  ports: LedgerPorts,
  name: LogName,
  ask: Ask,
  only?: LogIncarnation,
): Promise<DeletionAnswer> {
  const log = await ask(() => namedLog(ports.metadata, name));
  if (log === undefined) throw logNotFound({ name });
  if (only !== undefined && log.incarnation !== only) throw anotherLife(name, log.incarnation, only);
  await startDeletion(ports, log);
  try {
    const pass = await finishDeletion(ports, log.incarnation);
    assert(pass !== "kept", "DLG1: a log that is being deleted is never active again");
    return pass;
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    return "deleting"; // It is, whatever kept the rest from being done.
  }
}

/**
 * One pass over what a deletion leaves behind: bounded, and worth repeating long after the first (DLG2). Also
 * for a log whose name was released. "kept": the log item does not say "deleting", and nothing was touched.
 */
export async function finishDeletion(
  ports: LedgerPorts,
  id: LogIncarnation,
): Promise<DeletionAnswer | "kept"> {
  const item = await logItem(ports.metadata, id);
  if (item?.state !== "deleting") return "kept"; // DLG1
  const chain = await allItems(ports.metadata, id, "consistent");
  const segments = chain.filter((one) => one.kind === "segment"); // DLG2
  const pass = segments.slice(0, limits.removalsMax);
  const { failed } = await removeFromChain(ports, id, pass);
  if (failed.length > 0 || pass.length < segments.length) return "deleting";
  await leaveDirectory(ports, item);
  const isOwn = (named: Item) => named.kind === "log-name" && named.incarnation === id;
  await removeItem(ports, logNameKey(item.name), (named) => isOwn(named.item)); // DLG3
  ports.trace.emit({ event: "log-deleted", log: id });
  return "deleted";
}

/** The same code as for a name without a log: for whom asked, the deletion has happened or never will. */
function anotherLife(name: LogName, present: LogIncarnation, only: LogIncarnation): FencelineError {
  return new FencelineError("log_not_found", {
    message:
      `log ${JSON.stringify(name)} has no incarnation ${only}, or has it no more: now it is ${present}; ` +
      "nothing was deleted; leave the incarnation out to delete what has the name now",
  });
}

/** DLG1. Also where another deleter has come so far, or further. */
async function startDeletion(ports: LedgerPorts, log: LogItem): Promise<void> {
  if (log.state === "deleting") return;
  try {
    await sealLog(ports, log);
  } catch (error) {
    if (!hasCode(error, "log_not_found")) throw error; // Else another deleter was here; the item says so.
  }
  const { stored, wrote } = await mayHaveSealed(() =>
    changeItem(ports, logKey(log.incarnation), "log", (now) =>
      now.state === "active" ? { ...now, state: "deleting" } : undefined,
    ),
  );
  if (stored === undefined) throw logNotFound(log);
  if (wrote) ports.trace.emit({ event: "log-deleting", log: log.incarnation });
}

/** DLG4 */
async function leaveDirectory(ports: LedgerPorts, { name, incarnation: log }: LogItem): Promise<void> {
  await removeItem(ports, directoryKey(name), async () => {
    const named = await readItem(ports.metadata, logNameKey(name), "log-name");
    return named === undefined || named.incarnation === log;
  });
}
