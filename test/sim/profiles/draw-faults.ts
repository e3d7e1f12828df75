/** Draws faults. Each plan takes some kinds and not others, so that rare combinations come up alone. */
import {
  type End,
  type Fault,
  METADATA,
  type MessageFault,
  type MessageFaultKind,
  type Wire,
} from "../faults.ts";
import type { ActorPlan, WorldPlan } from "../plan.ts";
import type { SeededRandom } from "../seeded-random.ts";

export interface Scene {
  readonly random: SeededRandom;
  readonly world: WorldPlan;
  readonly actors: readonly ActorPlan[];
  /** Until when faults may strike. */
  readonly calmMs: number;
}

const MESSAGE_KINDS: readonly (readonly [Wire, MessageFaultKind])[] = [
  ["bookie", "request-lost"],
  ["bookie", "request-late"],
  ["bookie", "request-late"],
  ["bookie", "request-duplicated"],
  ["bookie", "request-refused"],
  ["bookie", "reply-lost"],
  ["bookie", "reply-late"],
  ["entry-store", "request-late"],
  ["entry-store", "request-late"],
  ["entry-store", "failed-before"],
  ["entry-store", "failed-after"],
  ["entry-store", "throttled"],
  ["entry-store", "conflict"],
  ["entry-store", "stale"],
  ["entry-store", "reply-late"],
  ["metadata", "request-late"],
  ["metadata", "failed-before"],
  ["metadata", "failed-after"],
  ["metadata", "throttled"],
  ["metadata", "conflict"],
  ["metadata", "stale"],
  ["metadata", "reply-lost"],
];

/** Lost, late, doubled and failed messages, each kind with a probability and a window of its own. */
export function messageFaults(scene: Scene, share: number, probabilityMax: number): Fault[] {
  const { random, calmMs } = scene;
  return MESSAGE_KINDS.filter(() => random.chance(share)).map(([wire, kind]): MessageFault => {
    // An add makes three store calls at each bookie; none of them may fail too often.
    const probability = random.logBetween(0.005, probabilityMax) * (wire === "entry-store" ? 0.3 : 1);
    const [fromMs, toMs] = random.chance(0.5) ? [0, calmMs] : windowIn(random, calmMs);
    const delayMs: readonly [number, number] = [20, random.pick([500, 3_000, 20_000])];
    const to: End =
      random.chance(0.5) || wire === "metadata" ? "*" : { name: random.pick(scene.world.bookies).name };
    return { kind, wire, from: "*", to, probability, fromMs, toMs, delayMs };
  });
}

/** Single links between an actor and a bookie that fail one way or both for a while. */
export function cuts(scene: Scene, count: number): Fault[] {
  const { random, world, actors, calmMs } = scene;
  return Array.from({ length: count }, (): MessageFault => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    const kind = random.pick(["link-cut", "link-cut-back"] as const);
    const from: End = random.chance(0.8) ? { name: random.pick(actors).name } : "*";
    // Now and then an actor reaches no bookie at all, and the metadata store all the same.
    const to: End = from !== "*" && random.chance(0.2) ? "*" : { name: random.pick(world.bookies).name };
    return { kind, wire: "bookie", from, to, probability: 1, fromMs, toMs };
  });
}

/** A few bookies that nobody reaches for a while, one soon after the other: what makes writers change ensembles. */
export function bookieOutages(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  const startMs = random.between(0, calmMs / 2);
  return random
    .shuffled(world.bookies)
    .slice(0, count)
    .map(({ name }): MessageFault => {
      const fromMs = startMs + random.logBetween(1, 2_000);
      const toMs = Math.min(calmMs, fromMs + random.logBetween(500, calmMs));
      const kind = random.pick(["request-refused", "request-refused", "link-cut", "link-cut-back"] as const);
      return { kind, wire: "bookie", from: "*", to: { name }, probability: 1, fromMs, toMs };
    });
}

/** One short outage after another, each of a few bookies at once: what a ledger meets in a bad hour. */
export function rollingOutages(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  const everyMs = calmMs / count;
  const { writeQuorum, ackQuorum } = world.replication;
  return Array.from({ length: count }, (_, index): Fault[] => {
    const fromMs = (index + random.unit()) * everyMs;
    const toMs = Math.min(calmMs, fromMs + random.logBetween(300, 3_000));
    const kind = random.pick(["request-refused", "request-refused", "request-refused", "link-cut"] as const);
    const fewest = writeQuorum - ackQuorum + 1;
    const most = Math.max(fewest, Math.ceil(world.bookies.length / 2));
    const down = random.shuffled(world.bookies).slice(0, random.integer(fewest, most));
    return down.map(({ name }) => {
      return { kind, wire: "bookie", from: "*", to: { name }, probability: 1, fromMs, toMs };
    });
  }).flat();
}

/** A whole region away, refusing or hanging, on both wires that leave it. */
export function regionOutages(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  return Array.from({ length: count }, (): Fault[] => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    const to: End = { region: random.pick(world.regions) };
    const kind = random.pick(["region-hanging", "region-refusing"] as const);
    const wires: Wire[] = ["bookie", "metadata", "function"];
    return wires.map((wire) => ({ kind, wire, from: "*", to, probability: 1, fromMs, toMs }));
  }).flat();
}

/** Replicas of the metadata that lag: whatever a region reads without demanding consistency is old for a while. */
export function laggingReplicas(scene: Scene): Fault[] {
  const { random, world, calmMs } = scene;
  return random
    .shuffled(world.regions)
    .slice(0, random.integer(1, 2))
    .map((region): MessageFault => {
      const [fromMs, toMs] = windowIn(random, calmMs);
      const delayMs: readonly [number, number] = [300, random.pick([3_000, 30_000])];
      return {
        kind: "stale",
        wire: "metadata",
        from: { region },
        to: "*",
        probability: 1,
        fromMs,
        toMs,
        delayMs,
      };
    });
}

/** Actors for whom everything takes long, just not so long that they give it up: the world moves on under them. */
export function slowActors(scene: Scene, count: number): Fault[] {
  const { random, actors, calmMs } = scene;
  return Array.from({ length: count }, (): Fault[] => {
    const from: End = { name: random.pick(actors).name };
    const [fromMs, toMs] = random.chance(0.5) ? [0, calmMs] : windowIn(random, calmMs);
    const late = (wire: Wire, delayMs: readonly [number, number]): MessageFault => {
      const probability = random.between(0.3, 1);
      return { kind: "request-late", wire, from, to: "*", probability, fromMs, toMs, delayMs };
    };
    return [late("metadata", [200, 2_800]), late("bookie", [100, 1_400])];
  }).flat();
}

/** Seconds in which the metadata store hardly answers, and in which what was given up takes effect late. */
export function metadataBrownouts(scene: Scene, count: number): Fault[] {
  const { random, calmMs } = scene;
  return Array.from({ length: count }, (): Fault[] => {
    const fromMs = random.between(0, calmMs);
    const toMs = Math.min(calmMs, fromMs + random.logBetween(1_000, 12_000));
    const at = { wire: "metadata", from: "*", to: "*", fromMs, toMs } as const;
    // Later than a caller waits for it, and not much later than he has given it up.
    const delayMs: readonly [number, number] = [2_800, 7_000];
    return [
      { ...at, kind: "request-late", probability: random.between(0.1, 0.5), delayMs },
      {
        ...at,
        kind: random.pick(["throttled", "failed-before"] as const),
        probability: random.between(0.2, 0.6),
      },
    ];
  }).flat();
}

/** The metadata's home region is lost: nobody's consistent call succeeds. */
export function metadataOutage(scene: Scene): Fault[] {
  const [fromMs, toMs] = windowIn(scene.random, scene.calmMs);
  return [
    {
      kind: "region-hanging",
      wire: "metadata",
      from: "*",
      to: { region: METADATA.region },
      probability: 1,
      fromMs,
      toMs,
    },
  ];
}

/** Processes that stop: actors and instances of bookies, for milliseconds, for hours, or for ever. */
export function stops(scene: Scene, count: number, crashes: number): Fault[] {
  const { random } = scene;
  return Array.from({ length: count }, (): Fault => {
    const target = anyProcess(scene);
    const fromMs = random.between(0, scene.calmMs);
    if (random.chance(crashes)) return { kind: "crashed", target, fromMs, toMs: fromMs, amount: 300 };
    const toMs = fromMs + random.pick([random.logBetween(50, 20_000), random.logBetween(20_000, 20_000_000)]);
    return { kind: "frozen", target, fromMs, toMs, amount: random.between(0, 4_000) };
  });
}

/** Recoveries that come to nothing half way: the recovering process dies again and again, or reaches no bookie. */
export function failedRecoveries(scene: Scene): Fault[] {
  const { random, actors, calmMs } = scene;
  const recoverers = actors.filter(({ kind }) => kind.endsWith("recoverer"));
  if (recoverers.length === 0) return [];
  if (random.chance(0.5)) {
    const [fromMs, toMs] = random.chance(0.5) ? [0, calmMs] : windowIn(random, calmMs);
    const from: End = { name: random.pick(recoverers).name };
    return [{ kind: "link-cut", wire: "bookie", from, to: "*", probability: 1, fromMs, toMs }];
  }
  return Array.from({ length: random.integer(2, 10) }, (): Fault => {
    const fromMs = random.between(0, calmMs);
    return { kind: "crashed", target: random.pick(recoverers).name, fromMs, toMs: fromMs, amount: 500 };
  });
}

/** Processes that stop for days, some of them for longer than a seal is kept. */
export function longStops(scene: Scene, count: number): Fault[] {
  const { random } = scene;
  const DAY_MS = 24 * 3_600_000;
  return Array.from({ length: count }, (): Fault => {
    const fromMs = random.between(0, scene.calmMs);
    const target = random.chance(0.5) ? random.pick(scene.actors).name : anyProcess(scene);
    const days = random.chance(0.5) ? random.between(36, 60) : random.logBetween(0.1, 60);
    return { kind: "frozen", target, fromMs, toMs: fromMs + days * DAY_MS, amount: random.between(0, 4_000) };
  });
}

/** A bookie's instance, or an actor. */
function anyProcess({ random, world, actors }: Scene): string {
  const bookie = random.pick(world.bookies);
  const instance = `${bookie.name}/${random.integer(0, bookie.instances - 1)}`;
  return random.chance(0.6) ? random.pick(actors).name : instance;
}

/** Wall clocks that are wrong from the start, and clocks that jump. */
export function wrongClocks(scene: Scene, count: number): Fault[] {
  const { random, world, actors, calmMs } = scene;
  return Array.from({ length: count }, (): Fault => {
    const target = random.chance(0.7) ? random.pick(actors).name : `${random.pick(world.bookies).name}/0`;
    const amount = random.pick([-1, 1]) * random.logBetween(100, 12 * 3_600_000);
    const jumped = random.chance(0.5);
    const fromMs = jumped ? random.between(0, calmMs) : 1;
    return { kind: jumped ? "clock-jumped" : "clock-skewed", target, fromMs, toMs: fromMs, amount };
  });
}

/** Damage that stays, or comes again, at one bookie of the world, and only where acknowledgements need two copies. */
export function damage(scene: Scene): Fault[] {
  const { random, world, calmMs } = scene;
  const { ackQuorum, ensembleSize } = world.replication;
  // What is lost must be replaceable in its own region, or ledgers that need that region cannot go on.
  const share = Math.ceil(ensembleSize / world.regions.length);
  const replaceable = world.bookies.filter(
    ({ region }) => world.bookies.filter((other) => other.region === region).length > share,
  );
  if (ackQuorum < 2 || replaceable.length === 0) return [];
  const target = random.pick(replaceable).name;
  if (random.chance(0.2)) {
    return [{ kind: "copy-rotten", target, fromMs: 0, toMs: calmMs, amount: random.between(0.05, 0.5) }];
  }
  let fromMs = random.between(0, calmMs / 2);
  return Array.from({ length: random.integer(1, 3) }, (): Fault => {
    const kind = random.pick(["storage-emptied", "storage-replaced"] as const);
    // It is away for more than the minute for which a tail read may trust what it last knew of it (rule 21).
    const toMs = fromMs + random.between(61_000, 75_000);
    const fault: Fault = { kind, target, fromMs, toMs };
    fromMs = toMs + random.between(1_000, 20_000);
    return fault;
  });
}

export function windowIn(random: SeededRandom, endMs: number): [number, number] {
  const one = random.between(0, endMs);
  const length = random.logBetween(100, endMs);
  return [one, Math.min(endMs, one + length)];
}
