/**
 * What operators do while everything runs: bookies and regions are added, drained, said to be lost, and taken
 * back, through the shipped registry and over the network. An operator tries until it is done.
 */

import { region } from "../../lib/protocol/ids.ts";
import { registerBookie, setBookieState, setRegionState } from "../../lib/protocol/placement/registry.ts";
import type { BookieState, RegionState } from "../../lib/protocol/replication.ts";
import type { UpdatePorts } from "../../lib/protocol/update-item.ts";
import { boundedMetadata } from "../../lib/protocol/update-item.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import type { StateFault, TopologyChangeKind } from "./faults.ts";
import type { World } from "./world.ts";

const RETRY_MS = 500;

export type TopologyChange = StateFault & { readonly kind: TopologyChangeKind };

const regionStates: Partial<Record<TopologyChangeKind, RegionState>> = {
  "region-draining": "draining",
  "region-lost": "lost",
};
const bookieStates: Partial<Record<TopologyChangeKind, BookieState>> = {
  "bookie-read-only": "read-only",
  "bookie-lost": "lost",
};

/** Says it now, and takes it back when it is said and `toMs` has come, if that is later. */
export function changeTopology(world: World, change: TopologyChange): void {
  world.faults.count(change.kind);
  operate(world, change).catch((error) => world.expected(error));
}

async function operate(world: World, change: TopologyChange): Promise<void> {
  const process = world.startProcess(`operator ${change.target}`, world.plan.world.regions[0] ?? "");
  const { clock, random } = process;
  const ports = { metadata: boundedMetadata(world.metadataOf(process), clock), random };
  const untilDone = async (act: () => Promise<void>) => {
    while (true) {
      try {
        return await act();
      } catch (error) {
        world.expected(error);
        await pause(clock, RETRY_MS);
      }
    }
  };
  await untilDone(() => say(world, ports, change));
  if (change.toMs <= change.fromMs) return;
  await pause(clock, Math.max(0, change.toMs - world.scheduler.nowMs));
  await untilDone(() => takeBack(world, ports, change));
}

async function say(world: World, ports: UpdatePorts, { kind, target }: TopologyChange): Promise<void> {
  const regionState = regionStates[kind];
  if (regionState !== undefined) return await setRegionState(ports, region(target), regionState);
  const address = world.bookieNamed(target)?.address;
  if (address === undefined) return;
  const bookieState = bookieStates[kind];
  if (bookieState === undefined) await registerBookie(ports, address);
  else await setBookieState(ports, address.id, bookieState);
}

async function takeBack(world: World, ports: UpdatePorts, { kind, target }: TopologyChange): Promise<void> {
  if (regionStates[kind] !== undefined) return await setRegionState(ports, region(target), "accepting");
  const address = world.bookieNamed(target)?.address;
  if (address !== undefined) await setBookieState(ports, address.id, "writable");
}
