/**
 * Draws readers that share, in one process, what it knows of ledgers, and that are frozen in the middle of their
 * reads together with who writes them: by the time both thaw, one soon after the other, the ledger is closed,
 * deleted, swept and forgotten.
 */
import type { Fault } from "../faults.ts";
import type { ActorPlan } from "../plan.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { Scene } from "./draw-faults.ts";
import type { Variant } from "./variant.ts";

/** How many plans have them. */
const SHARE = 0.5;
const DAY_MS = 24 * 3_600_000;

export const drawSharing: Variant = (seed, { world, workMs }, actors) => {
  const random = new SeededRandom(seed, "sharing collection");
  if (!random.chance(SHARE)) return undefined;
  const writer = actors.find(({ kind }) => kind === "ledger-writer");
  const others = actors.filter(({ kind }) => kind !== "ledger-writer" && kind !== "ledger-reader");
  const reader: ActorPlan = {
    kind: "ledger-reader",
    name: "reader-0",
    region: random.pick(world.regions),
    operations: random.integer(200, 500),
    pauseMs: random.logBetween(5, 200),
    startMs: random.between(0, 200),
    strong: true,
    keeps: 0.95,
    together: random.integer(3, 8),
  };
  const busy = others.map((one) => ({ ...one, operations: 2 * one.operations, pauseMs: one.pauseMs / 2 }));
  return {
    actors: [...(writer === undefined ? [] : [lasting(random, writer)]), reader, ...busy],
    faults: (scene, faults) => [
      ...faults.filter(({ kind }) => kind !== "frozen"),
      ...frozenTogether(random, scene, Math.min(workMs / 3, 20_000)),
    ],
  };
};

/** It is in the middle of a ledger most of the time. */
function lasting(random: SeededRandom, writer: ActorPlan): ActorPlan {
  if (writer.kind !== "ledger-writer") return writer;
  return { ...writer, window: random.pick([4, 6, 10]), ledgerEntries: 200, closes: 0 };
}

/**
 * Nobody succeeds them: the ledger stays among the youngest, which the others come upon. What either sent last
 * arrives nowhere: others close the ledger without it, and it is sent again at the thaw.
 */
function frozenTogether(random: SeededRandom, { calmMs }: Scene, beforeMs: number): Fault[] {
  const fromMs = random.between(1_500, Math.max(2_000, beforeMs));
  const toMs = fromMs + random.between(36, 60) * DAY_MS;
  const readerFromMs = fromMs + random.between(-100, 300);
  const stop = { kind: "frozen", amount: calmMs } as const;
  const unheard = (name: string, untilMs: number, forMs: number): Fault => {
    const [cutFromMs, cutToMs] = [untilMs - random.between(0, forMs), untilMs + 1];
    const cut = { probability: 1, fromMs: cutFromMs, toMs: cutToMs };
    return { kind: "link-cut", wire: "bookie", from: { name }, to: "*", ...cut };
  };
  return [
    unheard("writer-0", fromMs, 1_200),
    unheard("reader-0", readerFromMs, 800),
    { ...stop, target: "writer-0", fromMs, toMs },
    { ...stop, target: "reader-0", fromMs: readerFromMs, toMs: toMs + random.logBetween(50, 3_000) },
  ];
}
