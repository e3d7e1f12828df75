/**
 * A log comes to the region that it prefers by that region's auditor alone, and not before it has stayed with its
 * owner for a while (AU3). What became another way while the pass was under way is not held against it.
 */
import type { LogIncarnation, Region } from "../../../lib/protocol/ids.ts";
import { logKey, logNameKey } from "../../../lib/protocol/items.ts";
import { auditLimits } from "../../../lib/protocol/log/upkeep/audit-limits.ts";
import type { RegionCall } from "../observations.ts";
import { OwnedTimes } from "../owned-times.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

interface Preferred {
  readonly region: Region | undefined;
  readonly sinceMs: number;
}

export const returnsHome: Checker = {
  name: "returns-home",
  watch(world, report) {
    const times = new OwnedTimes(world);
    const preferred = new Map<LogIncarnation, Preferred[]>();
    const passes = new Map<SimulatedProcess, number>();
    // Wall clocks say how long a log has stayed.
    const clocksAreRight = !world.plan.faults.some(({ kind }) => kind.startsWith("clock-"));

    const brings = ({ process, to: owner, asked }: RegionCall) => {
      if (asked?.kind !== "hand-over" || !process.name.includes("auditor-")) return;
      const passBeganMs = passes.get(process) ?? 0;
      const log = logOf(world, asked.log);
      const all = log === undefined ? [] : (preferred.get(log) ?? []);
      const lately = all.filter((_, index) => (all[index + 1]?.sinceMs ?? Infinity) > passBeganMs);
      if (asked.to !== process.region || !lately.some(({ region }) => region === asked.to)) {
        const prefers = lately.map(({ region }) => region).join(" or ") || "no region";
        report(`${process.name} brings it to ${asked.to}; it prefers ${prefers}`, asked.log);
      }
      const ofOwner = log === undefined ? [] : times.ofOwner(log);
      const [first] = ofOwner;
      if (first === undefined || first.owner !== owner || first.fromMs >= passBeganMs) return;
      const stayedMs = world.scheduler.nowMs - first.fromMs;
      const isLong = stayedMs >= auditLimits.preferReturnMs || ofOwner.length >= auditLimits.ownedSegmentsMax;
      if (clocksAreRight && !isLong) {
        report(
          `${process.name} brings it home; ${owner} has had it for ${Math.round(stayedMs)} ms`,
          asked.log,
        );
      }
    };

    return {
      metadataChanged(change) {
        times.metadataChanged(change);
        const item = change.after?.item;
        if (item?.kind !== "log") return;
        const all = preferred.get(item.incarnation) ?? [];
        const { preferredRegion: region } = item;
        if (all.at(-1)?.region === region && all.length > 0) return;
        preferred.set(item.incarnation, [...all, { region, sinceMs: world.scheduler.nowMs }]);
      },
      operated({ request, answer, process }) {
        if (request.kind === "audit" && answer === undefined) passes.set(process, world.scheduler.nowMs);
      },
      regionCalled(call, answer) {
        if (answer === undefined) brings(call);
      },
    };
  },
};

function logOf({ table }: World, name: RegionCallLog) {
  const named = table.get(logNameKey(name))?.item;
  const item = named?.kind === "log-name" ? table.get(logKey(named.incarnation))?.item : undefined;
  return item?.kind === "log" ? item.incarnation : undefined;
}

type RegionCallLog = NonNullable<RegionCall["asked"]>["log"];
