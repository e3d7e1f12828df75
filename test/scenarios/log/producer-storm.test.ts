/**
 * Producers in bad weather: each repeats its batch through any process of any region until it is
 * acknowledged, sometimes through two at once, while bookies, metadata, leases and answers fail. Each batch
 * is once in the log, in its order, and every answer names the same place. `STORM_SEEDS=300` runs more of it.
 */

import { expect, test } from "vitest";
import { keySender } from "../../../lib/api/append-sender.ts";
import { FencelineError } from "../../../lib/protocol/errors.ts";
import type { MetadataStore } from "../../../lib/protocol/ports.ts";
import { boundedMetadata } from "../../../lib/protocol/update-item.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";
import { AnyOldState } from "./metadata-tricks.ts";
import { Storm } from "./storm.ts";

const SEEDS = Number(process.env.STORM_SEEDS ?? 4);
const FIRST_SEED = Number(process.env.STORM_FIRST_SEED ?? 1);
const REGIONS = ["east", "west", "north"];
const BATCHES = 14;
/** Attempts at one batch before its producer gives up. */
const ATTEMPTS_MAX = 60;

interface ProducedBatch {
  readonly texts: readonly string[];
  /** Where the answers said it is. */
  readonly places: number[];
}

/** One producer's batches so far; the last one may be in doubt. */
class Produced {
  readonly batches: ProducedBatch[] = [];
  isInDoubt = false;

  constructor(readonly name: string) {}
}

async function produce(storm: Storm, clients: readonly LogClient[], produced: Produced, isKey: boolean) {
  let seq = 0;
  const late: Promise<void>[] = [];
  for (let number = 0; number < BATCHES; number++) {
    const texts = Array.from(
      { length: 1 + storm.draw(3) },
      (_, slot) => `${produced.name}-${number}-${slot}`,
    );
    const batch: ProducedBatch = { texts, places: [] };
    produced.batches.push(batch);
    const sender = isKey ? keySender(`${produced.name}-${number}`) : { id: produced.name, epoch: 0, seq };
    const attempt = async () => {
      const client = clients[storm.draw(clients.length)] ?? clients[0];
      try {
        const request = { log: LOG, records: texts.map(recordOf), sender };
        const ack = await client?.appends.append({ ...request, timeoutMs: 500 + storm.draw(8_000) });
        if (ack !== undefined) batch.places.push(ack.start.seqNum);
      } catch (error) {
        refused(storm, batch, error);
      }
    };
    for (let tries = 0; batch.places.length === 0 && tries < ATTEMPTS_MAX; tries++) {
      const attempts = Array.from({ length: 1 + (storm.draw(4) === 0 ? 1 : 0) }, attempt);
      late.push(...attempts);
      await Promise.race(attempts);
      if (batch.places.length === 0) await storm.pause(600);
    }
    produced.isInDoubt = batch.places.length === 0;
    if (produced.isInDoubt) break;
    seq += texts.length;
    // Entries of nobody in between, also as the first of a segment.
    if (storm.draw(3) === 0) await clients[storm.draw(clients.length)]?.sending("plain");
    if (storm.draw(3) === 0) await clients[storm.draw(clients.length)]?.appends.release();
  }
  await Promise.all(late);
}

/** Nothing of a producer that waits for each answer is a gap, a conflict or a zombie. */
function refused(storm: Storm, batch: ProducedBatch, error: unknown): void {
  const code = error instanceof FencelineError ? error.code : String(error);
  // A late attempt at a batch that was acknowledged long ago.
  if (code === "producer_seq_passed" && batch.places.length > 0) return;
  if (/^producer|^idempotency|seq_num/.test(code) || !(error instanceof FencelineError)) {
    storm.broken.push(`${batch.texts}: ${code} ${error instanceof Error ? error.message : ""}`);
  }
}

function judge(storm: Storm, log: readonly string[], { batches, isInDoubt }: Produced): void {
  let before = -1;
  batches.forEach(({ texts, places }, index) => {
    const found = texts.map((text) => log.flatMap((there, place) => (there === text ? [place] : [])));
    const start = found[0]?.[0];
    const maybe = isInDoubt && index === batches.length - 1;
    if (start === undefined && maybe && found.every((one) => one.length === 0)) return;
    const isOnce = found.every((one, slot) => one.length === 1 && one[0] === (start ?? 0) + slot);
    if (!isOnce) storm.broken.push(`${texts} is at ${JSON.stringify(found)}`);
    if (places.some((place) => place !== start))
      storm.broken.push(`${texts}: told ${places}, is at ${start}`);
    if (start !== undefined && start <= before) storm.broken.push(`${texts} is before its predecessor`);
    before = start ?? before;
  });
}

async function weather(seed: number, leases: boolean, forwarding: boolean): Promise<void> {
  const w = await LogWorld.make({ segmentBytesMax: seed % 2 === 0 ? 600 : 100_000, leases, forwarding });
  const storm = new Storm(w, seed);
  const anyOld = new AnyOldState(w.world.metadata, (bound) => storm.draw(bound));
  const bounded = (store: MetadataStore) => boundedMetadata(anyOld.through(store), w.world.clock);
  const clients = REGIONS.map((region) => w.client(region, region, bounded));
  if (leases) clients.push(...REGIONS.map((region) => w.client(`${region}'`, region, bounded)));
  storm.brew(6 + storm.draw(50));
  if (storm.draw(3) > 0) storm.outages();
  const all = ["p", "q", "r", "key"].map((name) => new Produced(name));
  await w.run(Promise.all(all.map((produced) => produce(storm, clients, produced, produced.name === "key"))));
  storm.isOver = true;
  const calm = w.client("calm", "west", bounded);
  expect(await calm.append("the end")).toEqual([expect.stringMatching(/^at /)]);
  const log = await calm.read(0);
  for (const produced of all) judge(storm, log, produced);
  expect(storm.broken).toEqual([]);
  if (process.env.STORM_TALK) {
    const restored = w.world.trace.filter(({ event }) => event === "producers-restored").length;
    const duplicates = all.flatMap(({ batches }) => batches).filter(({ places }) => places.length > 1).length;
    const inDoubt = all.filter(({ isInDoubt }) => isInDoubt).length;
    const told = { seed, leases, forwarding, records: log.length, restored, duplicates, inDoubt };
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
  "storm %d: each producer's batches are once in the log, in order, at the places that it was told",
  EXHAUSTIVE,
  async (seed) => {
    await weather(seed, false, false);
    await weather(seed, true, false);
    await weather(seed, true, true);
  },
);
