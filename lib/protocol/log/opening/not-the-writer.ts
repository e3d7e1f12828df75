/** Why a process does not write to a log: another process of its region, or another region, does. */
import { FencelineError, notReady } from "../../errors.ts";
import type { Region } from "../../ids.ts";

/** Another process of this region holds the lease. */
export function leaseLost(logName: string): FencelineError {
  const message = `log ${logName}: another process of this region holds the writer lease`;
  return new FencelineError("fenced", { message });
}

/** Another region owns the log; `owner` feeds the callers' caches. */
export function notOwnedHere(logName: string, owner: Region): FencelineError {
  return new FencelineError("not_owner", {
    message: `log ${logName} is owned by region ${owner}; send the append there`,
    details: { owner },
  });
}

/** Only the writer of the last segment settles a tail: a control entry is not worth another segment. */
export function notOwner(logName: string): FencelineError {
  return notReady(`log ${logName}: this process does not write to the last segment any more`);
}
