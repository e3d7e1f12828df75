/** Which losses of regions a topology outlives, in words for the operator who deploys it. */
import { admitPlan } from "../../protocol/placement/what-if.ts";
import { replicationOf } from "./replication.ts";
import type { Topology, TopologyPreset } from "./topology.ts";

interface SurvivableLosses {
  readonly preset: string;
  /** Regions, any of them, that may be lost at once while appends and reads go on. */
  readonly regions: number;
  readonly words: string;
  /** Sets of surviving regions that could not host a log of this preset. */
  readonly warnings: readonly string[];
}

export function survivableLosses(topology: Topology): readonly SurvivableLosses[] {
  return topology.presets.map((preset) => lossesOf(topology, preset));
}

/** min(R - minRegions, what the metadata mode survives): one for `strong`, none for `home`'s home. */
function lossesOf({ metadata, regions, presets }: Topology, preset: TopologyPreset): SurvivableLosses {
  const replication = replicationOf(preset);
  const spare = regions.length - replication.minRegions;
  const name = typeof preset === "string" ? preset : JSON.stringify(preset);
  const role = preset === presets[0] ? `${name} (the default)` : name;
  const planned = regions.map((one) => ({ name: one.name, bookies: one.bookies.length, racks: 1 }));
  const admission = admitPlan(replication, planned);
  const warnings = admission.kind === "accepted" ? admission.warnings : [admission.reason];
  if (metadata.mode === "home") {
    const others =
      spare > 0 && regions.length > 1
        ? `any ${counted(spare)} other than the home ${metadata.home} may be lost`
        : "no region may be lost";
    return {
      preset: name,
      regions: 0,
      words: `${role}: ${others}; without the home nothing goes on`,
      warnings,
    };
  }
  const survived = Math.min(spare, 1);
  const why =
    spare === 0 ? `each append needs ${replication.minRegions}` : "metadata needs two of its three replicas";
  const words = survived === 0 ? "no region may be lost" : `any ${counted(survived)} may be lost`;
  return { preset: name, regions: survived, words: `${role}: ${words}; ${why}`, warnings };
}

function counted(regions: number): string {
  return regions === 1 ? "one region" : `${regions} regions`;
}
