/** Makes the faults of processes, clocks and storage happen, and pass. */
import type { SealedEntry, StoreValue } from "../../lib/protocol/ports.ts";
import type { SimulatedBookie } from "./bookie-network.ts";
import { isFunctionFault, isMessageFault, type StateFault } from "./faults.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { changeTopology } from "./topology-changes.ts";
import type { World } from "./world.ts";

/** Called when a process of that name stopped; a successor may start at `atMs`. */
export type Succeed = (name: string, atMs: number) => void;

export function scheduleStateFaults(world: World, succeed: Succeed): void {
  for (const fault of world.faults.all) {
    if (isMessageFault(fault) || isFunctionFault(fault)) continue;
    world.scheduler.at(fault.fromMs, () => begin(world, fault, succeed));
  }
}

function begin(world: World, fault: StateFault, succeed: Succeed): void {
  const process = world.processes.findLast(({ name, state }) => name === fault.target && state === "running");
  const bookie = world.bookieNamed(fault.target.split("/")[0] ?? "");
  switch (fault.kind) {
    case "frozen":
    case "crashed":
      if (process !== undefined) stop(world, fault, process, succeed);
      return;
    case "clock-skewed":
    case "clock-jumped":
      turn(world, fault);
      return;
    case "copy-rotten":
      if (bookie !== undefined) rot(world, fault, bookie);
      return;
    case "bookie-added":
    case "bookie-read-only":
    case "bookie-lost":
    case "region-draining":
    case "region-lost":
      changeTopology(world, { ...fault, kind: fault.kind });
      return;
    case "storage-emptied":
    case "storage-replaced":
      if (bookie !== undefined) lose(world, fault, bookie);
      return;
  }
}

/** A frozen process's clock goes wrong as well. */
function turn(world: World, fault: StateFault): void {
  const process = world.processes.findLast(({ name, state }) => name === fault.target && state !== "crashed");
  if (process === undefined) return;
  world.faults.count(fault.kind);
  process.wallSkewMs += fault.amount ?? 0;
}

function stop(world: World, fault: StateFault, process: SimulatedProcess, succeed: Succeed): void {
  world.faults.count(fault.kind);
  if (fault.kind === "crashed") process.crash();
  else {
    process.freeze();
    world.scheduler.at(fault.toMs, () => process.thaw());
  }
  // A bookie starts another process by itself when none runs; an actor has one at a time.
  succeed(fault.target, world.scheduler.nowMs + (fault.amount ?? 0));
}

/** From now on some copies reach the medium with a flipped bit, in the payload or in the digest. */
function rot(world: World, fault: StateFault, bookie: SimulatedBookie): void {
  const random = world.random(`rot ${fault.target} ${fault.fromMs}`);
  bookie.storage.damaged = true;
  bookie.storage.written = (value) => {
    if (value.kind !== "original" && value.kind !== "recovered") return value;
    if (world.scheduler.nowMs >= fault.toMs || !random.chance(fault.amount ?? 0)) return value;
    world.faults.count(fault.kind);
    return { ...value, entry: flipped(value.entry, random.uint32()) } as StoreValue;
  };
}

export function flipped(entry: SealedEntry, where: number): SealedEntry {
  const bit = 1 << ((where >>> 8) % 8);
  const flip = (bytes: Uint8Array) =>
    bytes.map((byte, at) => (at === where % bytes.length ? byte ^ bit : byte));
  const isOfDigest = entry.payload.length === 0 || (where >>> 16) % 4 === 0;
  return isOfDigest ? { ...entry, digest: flip(entry.digest) } : { ...entry, payload: flip(entry.payload) };
}

/** The storage goes away, and comes back empty: under the same identity's name, or as somebody else's. */
function lose(world: World, fault: StateFault, bookie: SimulatedBookie): void {
  world.faults.count(fault.kind);
  bookie.storage.offline = true;
  bookie.storage.damaged = true;
  world.scheduler.at(fault.toMs, () => {
    bookie.storage.offline = false;
    bookie.storage.empty(fault.kind === "storage-replaced" ? `${bookie.identity}-other` : undefined);
  });
}
