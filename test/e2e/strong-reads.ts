/**
 * 10,000 times: a record is appended in a random region, and the next strong read in a random other one finds
 * it, where its acknowledgement said. Regions own the log in turn. The shipped code on stores in memory.
 *
 *     node --import tsx test/e2e/strong-reads.ts [seed]
 */
import { type Region, region } from "../../lib/protocol/ids.ts";
import { LOG, type LogClient, LogWorld, textsOf } from "../scenarios/log/log-world.ts";
import { SeededRandom } from "../sim/seeded-random.ts";

const TRIES = 10_000;
const AT_ONCE = 20;
const REGIONS = ["east", "west", "north"];

const seed = Number(process.argv[2] ?? 1);
const random = new SeededRandom(seed, "strong reads");
const anyOf = <T>(all: readonly T[]): T => all[random.integer(0, all.length - 1)] as T;

async function attempt(appender: LogClient, reader: LogClient, text: string): Promise<void> {
  const { start } = await appender.sendingBatch([text]);
  const request = { log: LOG, from: start.seqNum, limit: 1, consistency: "strong" } as const;
  const [found] = textsOf(await reader.reads.read(request));
  if (found === text) return;
  throw new Error(`seed ${seed}: ${text} was acknowledged at ${start.seqNum}, where a read found ${found}`);
}

const began = performance.now();
const w = await LogWorld.make({ leases: true, forwarding: true, segmentBytesMax: 4_096 });
const clients = new Map<Region, LogClient>(REGIONS.map((name) => [region(name), w.client(name, name)]));
const all = [...clients.values()];
for (let done = 0; done < TRIES; done += AT_ONCE) {
  const tries = Array.from({ length: AT_ONCE }, (_, index) => {
    const appender = anyOf(all);
    const reader = anyOf(all.filter((one) => one !== appender));
    return attempt(appender, reader, `${done + index}`);
  });
  await w.run(Promise.all(tries));
  if (done % 1_000 === 0) await w.run(anyOf(all).appends.transferOwner(LOG, anyOf([...clients.keys()])));
  w.faults.log.length = 0;
}
const seconds = ((performance.now() - began) / 1_000).toFixed(1);
process.stdout.write(
  `seed ${seed}: ${TRIES} strong reads in another region found their record, ${seconds} s\n`,
);
