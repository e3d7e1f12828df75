/**
 * The one clock assumption (rule 15): a process whose last consistent metadata read is older than a quarter
 * of the seal age acknowledges nothing and answers nothing until it has read again. Measured by both
 * clocks: a frozen process's monotonic one may stand still, and a wall clock that went back proves nothing.
 */
import type { Age } from "../deadline.ts";
import { limits } from "../limits.ts";

/** Whether what was read may still be answered from. `readAt`: from before the read began. */
export function isFresh(readAt: Age | undefined): boolean {
  return readAt?.isWithin(limits.metadataAgeMaxMs) === true;
}
