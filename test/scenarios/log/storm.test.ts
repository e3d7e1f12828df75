/** Writers and readers of one log in three regions, in bad weather. `STORM_SEEDS=300` runs more of it. */
import { expect, test } from "vitest";
import type { MetadataStore } from "../../../lib/protocol/ports.ts";
import { boundedMetadata } from "../../../lib/protocol/update-item.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LogWorld } from "./log-world.ts";
import { AnyOldState } from "./metadata-tricks.ts";
import { Storm } from "./storm.ts";

const SEEDS = Number(process.env.STORM_SEEDS ?? 12);
const FIRST_SEED = Number(process.env.STORM_FIRST_SEED ?? 1);
const REGIONS = ["east", "west", "north"];

const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);

async function weather(seed: number, leases: boolean, forwarding: boolean): Promise<void> {
  const w = await LogWorld.make({ segmentBytesMax: 400, leases, forwarding });
  const storm = new Storm(w, seed);
  storm.isOrdered = !forwarding;
  const anyOld = new AnyOldState(w.world.metadata, (bound) => storm.draw(bound));
  const bounded = (store: MetadataStore) => boundedMetadata(anyOld.through(store), w.world.clock);
  const clients = REGIONS.map((region) => w.client(region, region, bounded));
  const others = leases ? REGIONS.map((region) => w.client(`${region}'`, region, bounded)) : [];
  const writers = [...clients.slice(0, 1 + storm.draw(3)), ...others.slice(0, 1 + storm.draw(3))];
  storm.brew(4 + storm.draw(50));
  if (storm.draw(3) > 0) storm.outages();
  const acts = [
    ...writers.map((client, index) => storm.write(client, `w${index}`, 16)),
    ...clients.map((client) => storm.follow(client, 24)),
    ...clients.slice(2).map((client) => storm.glance(client, 12)),
  ];
  await w.run(Promise.all(acts));
  storm.isOver = true;
  const calm = w.client("calm", "west", bounded);
  expect(await calm.append("the end")).toEqual([expect.stringMatching(/^at /)]);
  const log = await calm.read(0);
  expect(log.at(-1)).toBe("the end");
  storm.judge(log);
  expect(storm.broken).toEqual([]);
  if (process.env.STORM_TALK) {
    const resumed = w.world.trace.filter((event) => event.event === "segment-resumed").length;
    const told = { seed, leases, forwarding, counts: storm.outcomes(), resumed, calls: w.faults.log.length };
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}

test.each(seeds)(
  "storm %d: acknowledged once and for ever, refused never, in doubt once or not at all",
  EXHAUSTIVE,
  (seed) => weather(seed, false, false),
);

test.each(seeds)(
  "storm %d with two processes in a region that pass a writer lease (16 to 20): the same",
  EXHAUSTIVE,
  (seed) => weather(seed, true, false),
);

test.each(seeds)(
  "storm %d with appends forwarded to the owner's region, which may be taken over: the same",
  EXHAUSTIVE,
  (seed) => weather(seed, true, true),
);
