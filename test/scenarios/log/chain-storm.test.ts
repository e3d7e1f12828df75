/**
 * Writers, readers, trimmers, auditors, collectors and sealers of one log in bad weather, and a deletion in the
 * end. `STORM_SEEDS=300` runs more of it.
 */

import { expect, test } from "vitest";
import { FencelineError } from "../../../lib/protocol/errors.ts";
import { type LedgerId, seqNum } from "../../../lib/protocol/ids.ts";
import { collectUnnamed } from "../../../lib/protocol/log/upkeep/audit-ledger.ts";
import { auditSegments } from "../../../lib/protocol/log/upkeep/audit-segments.ts";
import type { MetadataStore } from "../../../lib/protocol/ports.ts";
import { boundedMetadata } from "../../../lib/protocol/update-item.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LOG, type LogClient, LogWorld } from "./log-world.ts";
import { AnyOldState } from "./metadata-tricks.ts";
import { Storm } from "./storm.ts";

const SEEDS = Number(process.env.STORM_SEEDS ?? 10);
const FIRST_SEED = Number(process.env.STORM_FIRST_SEED ?? 1);
const REGIONS = ["east", "west", "north"];
const ROUNDS = 12;

/** What trimmers, auditors, collectors and sealers do while it storms. */
class Housekeeping {
  readonly ends = new Set<number>();

  constructor(private readonly storm: Storm) {}

  async trim(client: LogClient): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      await this.storm.pause(3_000);
      const to = this.storm.draw(this.storm.acknowledged() + 1);
      this.storm.trimmedTo = Math.max(this.storm.trimmedTo, to);
      await this.#try("trim", async () => {
        const trimPoint = await client.appends.trim(LOG, seqNum(to));
        if (trimPoint < to) this.storm.broken.push(`trimmed to ${to}, and it is ${trimPoint}`);
      });
    }
  }

  async audit({ ports }: LogClient): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      await this.storm.pause(3_000);
      await this.#try("audit", async () => {
        const { failed } = await auditSegments(ports, this.storm.w.log);
        for (const { error } of failed) throw error;
      });
    }
  }

  /** Of any ledger that was ever created, the youngest above all. */
  async collect({ ports }: LogClient): Promise<void> {
    for (let round = 0; round < 2 * ROUNDS; round++) {
      await this.storm.pause(1_500);
      const ids = createdLedgers(this.storm.w);
      const id = ids[Math.max(0, ids.length - 1 - this.storm.draw(3))];
      if (id !== undefined) await this.#try("collect", () => collectUnnamed(ports, id));
    }
  }

  async seal(client: LogClient): Promise<void> {
    await this.storm.pause(20_000);
    await this.#try("seal", async () => void this.ends.add(await client.appends.seal(LOG)));
  }

  async #try(what: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const ordinary = ["insufficient_regions", "unavailable", "not_ready"];
      if (error instanceof FencelineError && ordinary.includes(error.code)) return;
      this.storm.broken.push(`${what}: ${error instanceof Error ? error.stack : error}`);
    }
  }
}

function createdLedgers(w: LogWorld): LedgerId[] {
  return w.world.trace.flatMap((event) => (event.event === "ledger-created" ? [event.ledgerId] : []));
}

/** The log as it is, with holes where it is trimmed away. */
async function logOf(client: LogClient, w: LogWorld): Promise<string[]> {
  const { trimPoint } = await w.run(client.reads.describeLog(LOG));
  const log: string[] = [];
  log.length = trimPoint;
  log.push(...(await client.read(trimPoint)));
  return log;
}

const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);

test.each(seeds)(
  "storm %d: trimmed, audited, collected, sealed and deleted, a log keeps what it promised",
  EXHAUSTIVE,
  async (seed) => {
    const w = await LogWorld.make({ segmentBytesMax: 100 });
    const storm = new Storm(w, seed);
    const anyOld = new AnyOldState(w.world.metadata, (bound) => storm.draw(bound));
    const bounded = (store: MetadataStore) => boundedMetadata(anyOld.through(store), w.world.clock);
    const clients = REGIONS.map((region) => w.client(region, region, bounded));
    const [east, west, north] = clients as [LogClient, LogClient, LogClient];
    const keeping = new Housekeeping(storm);
    const isSealed = storm.draw(2) === 0;
    storm.brew(10 + storm.draw(60));
    if (storm.draw(2) > 0) storm.outages();
    const acts = [
      ...clients.slice(0, 1 + storm.draw(3)).map((client, index) => storm.write(client, `w${index}`, 16)),
      ...clients.map((client) => storm.follow(client, 24)),
      ...[east, west].map((client) => keeping.trim(client)),
      ...[west, north].map((client) => keeping.audit(client)),
      keeping.collect(north),
      ...(isSealed ? [keeping.seal(west), keeping.seal(north)] : []),
    ];
    await w.run(Promise.all(acts));
    storm.isOver = true;
    const calm = w.client("calm", "west", bounded);
    if (isSealed) keeping.ends.add(await w.run(calm.appends.seal(LOG)));
    const last = await calm.append("the end");
    expect(last).toEqual([isSealed ? "log_sealed, side effects none" : expect.stringMatching(/^at /)]);
    const log = await logOf(calm, w);
    if (isSealed) expect([...keeping.ends]).toEqual([log.length]);
    storm.judge(log);
    expect(storm.broken).toEqual([]);
    expect(w.world.trace.filter(({ event }) => event === "log-alarm")).toEqual([]);
    await everyLedgerIsKept(w, calm);
    if (process.env.STORM_TALK) process.stdout.write(`${JSON.stringify({ seed, ...talk(w, storm) })}\n`);
    expect(await w.run(calm.appends.deleteLog(LOG))).toBe("deleted");
    for (const client of clients) expect(await client.readOrError(0)).toBe("log_not_found");
  },
);

/** Nothing leaks: after a last round of the auditor and the collector only named ledgers are left. */
async function everyLedgerIsKept(w: LogWorld, { ports }: LogClient): Promise<void> {
  await w.run(auditSegments(ports, w.log));
  const named = new Set(Object.values(await w.chain()));
  for (const id of createdLedgers(w)) {
    const answer = await w.run(collectUnnamed(ports, id));
    const state = await w.ledgerState(id);
    if (named.has(id)) expect([id, state === "DELETED" ? "collected" : "named"]).toEqual([id, answer]);
    else expect([id, answer, state]).toEqual([id, "collected", "DELETED"]);
  }
}

function talk(w: LogWorld, storm: Storm) {
  const count = (kind: string) => w.world.trace.filter(({ event }) => event === kind).length;
  return {
    counts: storm.outcomes(),
    opened: count("segment-opened"),
    removed: count("chain-item-removed"),
    collected: count("ledger-collected"),
    trimmedTo: storm.trimmedTo,
  };
}
