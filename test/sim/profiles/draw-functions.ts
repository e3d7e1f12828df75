/**
 * Draws regions' `append` functions, their callers, and what goes wrong with leases, functions and the ways between
 * them.
 */
import type { Fault, FunctionFault, MessageFault, MessageFaultKind, Wire } from "../faults.ts";
import type { ActorPlan, FunctionsPlan, LogCallerPlan, WorldPlan } from "../plan.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { Stage } from "./draw-actors.ts";
import { type Scene, windowIn } from "./draw-faults.ts";
import { moverActors } from "./draw-upkeep.ts";

export function functionsOf(random: SeededRandom, world: WorldPlan): FunctionsPlan[] {
  // Instances that release after each request pass the lease all the time; others only when they are asked to.
  const releases = random.pick([0, 0.5, 0.9, 1]);
  return world.regions.map((region) => ({
    name: `append-${region}`,
    region,
    instancesMax: random.integer(1, 4),
    concurrency: random.pick([1, 1, 4]),
    releases,
    parks: random.pick([0, 0.5, 1]),
    coldStarts: random.pick([0, 0.05, 0.3]),
  }));
}

/** The same, where a resident serves the log for the others: most instances serve one request at a time. */
export function residentsOf(random: SeededRandom, world: WorldPlan): FunctionsPlan[] {
  return functionsOf(random, world).map((functions) => ({
    ...functions,
    instancesMax: random.integer(3, 8),
    concurrency: random.pick([1, 1, 1, 3]),
    residents: random.pick([0.1, 0.5, 1]),
  }));
}

/** Most clients are producers, as the SDK makes them; some send plain appends, and some a key with each. */
const SENDERS: readonly Pick<LogCallerPlan, "idempotent">[] = [
  {},
  {},
  { idempotent: "producer" },
  { idempotent: "producer" },
  { idempotent: "key" },
];

/** Callers in several regions, readers, and now and then an old-style writer that holds a log by itself. */
export function callerActors(stage: Stage, log: string, callersMax = 5): ActorPlan[] {
  const { random, world, workMs } = stage;
  const segmentBytes = random.pick([400, 2_000, 10_000, 100_000]);
  const base = (name: string, operations: number) => ({
    name,
    region: random.pick(world.regions),
    operations,
    pauseMs: (workMs / operations) * random.logBetween(0.3, 2),
    startMs: random.between(0, 500),
    log,
  });
  const callers = Array.from(
    { length: random.integer(2, callersMax) },
    (_, index): ActorPlan => ({
      kind: "log-caller",
      ...random.pick(SENDERS),
      ...base(`caller-${index}`, random.integer(20, 90)),
      window: random.pick([1, 1, 3]),
      matches: random.pick([0, 0, 0.3, 1]),
      segmentBytes,
      roams: random.pick([0, 0, 0.2, 0.5]),
      patienceMs: random.pick([3_000, 25_000]),
    }),
  );
  const libraries = Array.from(
    { length: random.chance(0.3) ? 1 : 0 },
    (_, index): ActorPlan => ({
      kind: "log-appender",
      ...base(`library-${index}`, random.integer(5, 40)),
      window: random.pick([1, 3]),
      matches: random.pick([0, 0.5]),
      segmentBytes,
    }),
  );
  const readers = Array.from(
    { length: random.integer(1, 2) },
    (_, index): ActorPlan => ({
      kind: "log-reader",
      ...base(`log-reader-${index}`, random.integer(20, 60)),
      strong: random.pick([1, 0.8, 0.3]),
    }),
  );
  return [...callers, ...libraries, ...readers];
}

/** Many callers of one log, most of them in one region; now and then they move it. */
export function inboxActors(stage: Stage, log: string): ActorPlan[] {
  const { random, world } = stage;
  const home = random.pick(world.regions);
  if (random.chance(0.2)) return moverActors(stage, log);
  return callerActors(stage, log, 10).map((actor) => ({
    ...actor,
    region: random.chance(0.7) ? home : actor.region,
  }));
}

const KINDS: readonly (readonly [Wire, MessageFaultKind])[] = [
  ["lease", "request-late"],
  ["lease", "request-lost"],
  ["lease", "request-duplicated"],
  ["lease", "failed-before"],
  ["lease", "failed-after"],
  ["lease", "failed-after"],
  ["lease", "throttled"],
  ["lease", "reply-lost"],
  ["lease", "reply-late"],
  ["function", "request-late"],
  ["function", "request-lost"],
  ["function", "request-duplicated"],
  ["function", "request-refused"],
  ["function", "throttled"],
  ["function", "failed-before"],
  ["function", "failed-after"],
  ["function", "reply-lost"],
  ["function", "reply-late"],
];

export function functionMessageFaults(
  scene: Scene,
  share: number,
  probabilityMax: number,
  kinds: readonly (readonly [Wire, MessageFaultKind])[] = KINDS,
): Fault[] {
  const { random, calmMs } = scene;
  return kinds
    .filter(() => random.chance(share))
    .map(([wire, kind]): MessageFault => {
      const [fromMs, toMs] = random.chance(0.5) ? [0, calmMs] : windowIn(random, calmMs);
      const probability = random.logBetween(0.01, probabilityMax);
      const delayMs: readonly [number, number] = [20, random.pick([500, 3_000, 20_000])];
      return { kind, wire, from: "*", to: "*", probability, fromMs, toMs, delayMs };
    });
}

/** What happens to messages of leases happens to those of inboxes. */
export const INBOX_KINDS = KINDS.filter(([wire]) => wire === "lease").map(
  ([, kind]): readonly [Wire, MessageFaultKind] => ["inbox", kind],
);

/** Instances that freeze or die in the middle of a request, for milliseconds or for hours. */
export function stricken(scene: Scene, functions: readonly FunctionsPlan[]): FunctionFault[] {
  const { random, calmMs } = scene;
  return functions.flatMap(({ name }): FunctionFault[] => {
    if (random.chance(0.3)) return [];
    const [fromMs, toMs] = random.chance(0.6) ? [0, calmMs] : windowIn(random, calmMs);
    const thawByMs = toMs + random.pick([1_000, 30_000, 5_000_000]);
    const probability = random.logBetween(0.01, 0.2);
    const frozen: FunctionFault = {
      kind: "request-frozen",
      target: name,
      probability,
      fromMs,
      toMs,
      thawByMs,
    };
    if (random.chance(0.5)) return [frozen];
    return [frozen, { ...frozen, kind: "request-crashed", probability: random.logBetween(0.01, 0.1) }];
  });
}

/** One region does not reach another, or does not hear from it, while the other way is open. */
export function oneWayCuts(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  return Array.from({ length: count }, (): Fault[] => {
    const [from, to] = random.shuffled(world.regions).map((region) => ({ region }));
    if (from === undefined || to === undefined) return [];
    const [fromMs, toMs] = windowIn(random, calmMs);
    const wires: Wire[] = random.chance(0.5) ? ["function"] : ["function", "bookie"];
    const cut = { probability: 1, fromMs, toMs };
    return wires.flatMap((wire): MessageFault[] => [
      { ...cut, kind: "link-cut", wire, from, to },
      { ...cut, kind: "link-cut-back", wire, from: to, to: from },
    ]);
  }).flat();
}

/** A region's lease table does not answer: it cannot own logs. */
export function leaseOutages(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  return Array.from({ length: count }, (): MessageFault => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    const to = { region: random.pick(world.regions) };
    const kind = random.pick(["region-hanging", "region-refusing", "failed-before"] as const);
    return { kind, wire: "lease", from: "*", to, probability: 1, fromMs, toMs };
  });
}

/** A region's functions have too much to do for a while: nearly every call is refused for it. */
export function busyRegions(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  return Array.from({ length: count }, (): MessageFault => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    const to = { region: random.pick(world.regions) };
    const probability = random.pick([0.9, 1]);
    return { kind: "throttled", wire: "function", from: "*", to, probability, fromMs, toMs };
  });
}

/**
 * Seconds in which functions often do not hear a call, or are not heard. A caller that waits for an answer that was
 * lost
 * calls nobody meanwhile, so a small chance all the time would hardly ever strike. Drawn from a stream of its own.
 */
export function unheardCalls({ calmMs }: Scene, random: SeededRandom): MessageFault[] {
  if (!random.chance(0.4)) return [];
  return Array.from({ length: random.integer(2, 5) }, (): MessageFault => {
    const fromMs = random.between(0, calmMs);
    const toMs = Math.min(calmMs, fromMs + random.logBetween(500, 6_000));
    const kind = random.pick(["request-lost", "reply-lost"] as const);
    const probability = random.between(0.2, 0.8);
    return { kind, wire: "function", from: "*", to: "*", probability, fromMs, toMs };
  });
}

/** Times in which a process that takes a lease, or leaves one, often does not hear that it was done. */
export function leasesInDoubt(scene: Scene, count: number): Fault[] {
  const { random, calmMs } = scene;
  return Array.from({ length: count }, (): MessageFault => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    const kind = random.pick(["failed-after", "reply-lost"] as const);
    const probability = random.between(0.3, 0.8);
    return { kind, wire: "lease", from: "*", to: "*", probability, fromMs, toMs };
  });
}

/** A region that is away takes its lease table with it. */
export function withLeases(faults: readonly Fault[]): Fault[] {
  return faults.flatMap((fault): Fault[] => {
    const isRegion = fault.kind === "region-hanging" || fault.kind === "region-refusing";
    if (!isRegion || fault.wire !== "function") return [fault];
    return [fault, { ...fault, wire: "lease" }];
  });
}

/** Instances whose wall clocks are wrong, or jump. */
export function wrongFunctionClocks(scene: Scene, functions: readonly FunctionsPlan[]): Fault[] {
  const { random, calmMs } = scene;
  return functions.flatMap(({ name, instancesMax }) =>
    Array.from({ length: random.integer(0, instancesMax) }, (_, index): Fault => {
      const fromMs = random.chance(0.5) ? 0 : random.between(0, calmMs);
      const amount = random.pick([-1, 1]) * random.logBetween(100, 12 * 3_600_000);
      const kind = fromMs === 0 ? "clock-skewed" : "clock-jumped";
      return { kind, target: `${name}/${index}`, fromMs, toMs: fromMs, amount };
    }),
  );
}
