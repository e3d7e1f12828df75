/** What must hold between the parts of a topology. All that is wrong is reported at once. */

import { admitPlan } from "../../protocol/placement/what-if.ts";
import { Names } from "../names.ts";
import { environmentSize } from "./environment-size.ts";
import { strongReplicaFaults, zonePrefix } from "./region-sets.ts";
import { replicationOf } from "./replication.ts";
import type { Topology, TopologyRegion } from "./topology.ts";

export function topologyFaults(topology: Topology): readonly string[] {
  return [
    ...repeated(
      topology.regions.map(({ name }) => name),
      "regions",
    ),
    ...repeated(
      topology.regions.flatMap(({ bookies }) => bookies.map(({ storage }) => storage)),
      "storage",
    ),
    ...topology.regions.flatMap(regionFaults),
    ...metadataFaults(topology),
    ...restoredFaults(topology),
    ...admissionFaults(topology),
    ...environmentFaults(topology),
  ];
}

function regionFaults({ name, bookies }: TopologyRegion): readonly string[] {
  const prefix = zonePrefix(name);
  const strange = bookies.filter(({ rack }) => prefix === undefined || !rack.startsWith(`${prefix}-az`));
  return [
    ...repeated(
      bookies.map((bookie) => bookie.name),
      `bookies of ${name}`,
    ),
    ...(prefix === undefined ? [`region ${name}: no zone ids are known for it`] : []),
    ...(prefix === undefined ? [] : strange).map(
      (bookie) =>
        `region ${name}: bookie ${bookie.name} stands in ${bookie.rack}, which is no zone of it; its zones ` +
        `are ${prefix}-az1 and so on`,
    ),
  ];
}

function metadataFaults({ metadata, regions }: Topology): readonly string[] {
  const twice = repeated(metadata.replicas, "metadata.replicas");
  if (metadata.mode === "strong") return [...twice, ...strongReplicaFaults(metadata)];
  const { home, replicas } = metadata;
  const isListed = regions.some(({ name }) => name === home);
  return [
    ...twice,
    ...(isListed ? [] : [`metadata.home ${home} is none of the regions; add it, or name one of them`]),
    ...(replicas.includes(home)
      ? [`metadata.replicas names the home ${home}; list only regions besides it`]
      : []),
  ];
}

function restoredFaults(topology: Topology): readonly string[] {
  const { restored, metadata } = topology;
  if (restored === undefined) return [];
  const own = new Names(topology).metadataTable;
  return [
    ...(restored.table === own
      ? [`restored.table ${own} is the deployment's own table; name the one that was restored beside it`]
      : []),
    // The table says so of itself, and a function whose settings name another home refuses to read it.
    ...(metadata.mode === "home" && restored.region !== metadata.home
      ? [`restored.region is ${restored.region}; in mode home restore in the home, ${metadata.home}`]
      : []),
  ];
}

function admissionFaults({ presets, regions }: Topology): readonly string[] {
  const planned = regions.map(({ name, bookies }) => ({ name, bookies: bookies.length, racks: 1 }));
  // Admission counts each region once; the repetition was reported above.
  if (new Set(planned.map(({ name }) => name)).size < planned.length) return [];
  return presets.flatMap((preset) => {
    const admission = admitPlan(replicationOf(preset), planned);
    if (admission.kind === "accepted") return [];
    const name = typeof preset === "string" ? `preset ${preset}` : `preset ${JSON.stringify(preset)}`;
    return [`${name} is not admitted: ${admission.reason}`];
  });
}

function environmentFaults(topology: Topology): readonly string[] {
  const size = environmentSize(topology);
  return size === undefined || size.fits ? [] : [`${size.words}: name fewer, or a shorter namePrefix`];
}

function repeated(names: readonly string[], what: string): readonly string[] {
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  return [...new Set(twice)].map((name) => `${what}: ${name} is named twice`);
}
