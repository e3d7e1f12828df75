/**
 * What a region counts of another one's failures is no hot item: it names no more failures than are needed, and
 * once they are enough it is written again only when it has aged, or to remove them.
 */
import type { OwnerFailures } from "../../../lib/protocol/lease.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { Checker } from "./checker.ts";

export const failuresCountedSparingly: Checker = {
  name: "failures-counted-sparingly",
  watch(_world, report) {
    return {
      failuresCounted({ region, owner, before, after, process }) {
        const what = `${process.name} of ${region} counts a failure of ${owner}`;
        if (after.failures.length > limits.ownerFailuresMin) {
          report(`${what}: ${after.failures.length} names, ${limits.ownerFailuresMin} are needed`, owner);
        }
        if (before === undefined || !isEnough(before) || after.firstAtMs !== before.firstAtMs) return;
        if (after.failures.length === 0) return;
        const sinceMs = after.lastAtMs - before.lastAtMs;
        if (sinceMs < limits.ownerSilenceMs) report(`${what}: silent already, ${sinceMs} ms ago`, owner);
      },
    };
  },
};

const isEnough = ({ failures, firstAtMs, lastAtMs }: OwnerFailures): boolean =>
  failures.length >= limits.ownerFailuresMin && lastAtMs - firstAtMs >= limits.ownerSilenceMs;
