/** What must hold between the parts of a topology. All that is wrong is told at once. */

import { regionVariables } from "../../environment.ts";
import { admitPlan } from "../../protocol/placement/what-if.ts";
import { Names } from "../names.ts";
import { regionSettings } from "../region-settings.ts";
import { metadataRegions } from "./metadata-regions.ts";
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

function admissionFaults({ presets, regions }: Topology): readonly string[] {
  const planned = regions.map(({ name, bookies }) => ({ name, bookies: bookies.length, racks: 1 }));
  // Admission counts each region once; the repetition was told above.
  if (new Set(planned.map(({ name }) => name)).size < planned.length) return [];
  return presets.flatMap((preset) => {
    const admission = admitPlan(replicationOf(preset), planned);
    if (admission.kind === "accepted") return [];
    const name = typeof preset === "string" ? `preset ${preset}` : `preset ${JSON.stringify(preset)}`;
    return [`${name} is not admitted: ${admission.reason}`];
  });
}

/** Lambda takes no more of a function's variables, names and values together. */
const ENVIRONMENT_BYTES_MAX = 4_096;

function environmentFaults(topology: Topology): readonly string[] {
  const [region] = metadataRegions(topology);
  if (region === undefined) return [];
  const settings = regionSettings(topology, new Names(topology), region, "write");
  const variables = Object.entries(regionVariables(settings));
  const bytes = variables.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes <= ENVIRONMENT_BYTES_MAX) return [];
  const bookies = topology.regions.reduce((sum, one) => sum + one.bookies.length, 0);
  return [
    `${bookies} bookies take ${bytes} bytes of each function's environment, and Lambda allows ` +
      `${ENVIRONMENT_BYTES_MAX}; name fewer bookies, or a shorter namePrefix`,
  ];
}

function repeated(names: readonly string[], what: string): readonly string[] {
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  return [...new Set(twice)].map((name) => `${what}: ${name} is named twice`);
}
