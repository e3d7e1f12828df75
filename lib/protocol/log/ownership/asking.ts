/** A question to an owner, whether it can own logs: shared by those who would ask at the same time. */
import type { Clock } from "../../clock.ts";
import type { LogIncarnation } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { isWithin, type Moment } from "../../moment.ts";

export interface Asking {
  readonly answer: Promise<boolean>;
  readonly sentAt: Moment;
  /** Logs for which its failure was counted: once each, however many wait for it. */
  readonly failedFor: Set<LogIncarnation>;
}

/** What was asked before a freeze is answered when the asker thaws: that tells nothing of now (F3). */
export function isStale(clock: Clock, { sentAt }: Asking): boolean {
  return !isWithin(clock, sentAt, limits.ownerFailureGapMaxMs);
}
