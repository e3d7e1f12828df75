/**
 * The auditor of a region: looks after its ledgers and after the logs that it owns, one bounded pass at a
 * time. Whoever runs it does so on a schedule, off every request's path. Passes may overlap, and run in
 * several processes: each step is safe by itself, and what one pass leaves the next one finds.
 *
 * E1 A pass takes up where this process's last one ended, and a new process begins somewhere: no ledger waits
 *    for another one.
 * E2 What fails is counted and left; nothing stops a pass but its time.
 * E3 A log returns to the region that it prefers by that region's own auditor, through the owner, and only
 *    after it stayed with its last owner for a while: a region that comes and goes gets it once a while.
 */
import type { LogName, Region } from "../ids.ts";
import { DIRECTORY_SHARDS, directoryPartition, type LogItem, ledgerListingPartition } from "../items.ts";
import type { Versioned } from "../ports.ts";
import { randomBelow } from "../random.ts";
import { auditLedger, type LedgerVerdict } from "./audit-ledger.ts";
import { auditLimits } from "./audit-limits.ts";
import { auditSegments } from "./audit-segments.ts";
import { findLog } from "./log-names.ts";
import type { LogPorts } from "./log-ports.ts";
import { lastItem } from "./segments.ts";

export interface AuditReport {
  readonly ledgers: number;
  /** How many ledgers met which end. */
  readonly verdicts: Readonly<Partial<Record<LedgerVerdict, number>>>;
  readonly logs: number;
  /** Items that were taken out of chains. */
  readonly segmentsRemoved: number;
  /** Logs that came home to this region. */
  readonly returned: number;
  readonly failures: number;
}

/** Where a walk over sharded partitions stands. */
interface Cursor {
  shard: number;
  /** Sort keys up to and with this one are done. */
  after: string | undefined;
}

type Counts = { -readonly [K in keyof AuditReport]: AuditReport[K] } & {
  verdicts: Partial<Record<LedgerVerdict, number>>;
};

export class Auditor {
  readonly #ledgers: Cursor;
  readonly #logs: Cursor;

  /** `bringHome`: has the region take a log over from its owner, as `AppendOperations.transferOwner` does. */
  constructor(
    private readonly ports: LogPorts,
    private readonly bringHome: (log: LogName, to: Region) => Promise<unknown>,
  ) {
    this.#ledgers = { shard: randomBelow(ports.random, DIRECTORY_SHARDS), after: undefined };
    this.#logs = { shard: randomBelow(ports.random, DIRECTORY_SHARDS), after: undefined };
  }

  /** One pass. Never throws what a port throws: that is counted (E2). */
  async pass(): Promise<AuditReport> {
    const { region } = this.ports;
    const counts: Counts = {
      ledgers: 0,
      verdicts: {},
      logs: 0,
      segmentsRemoved: 0,
      returned: 0,
      failures: 0,
    };
    const giveUpAtMs = this.ports.clock.monotonicMs() + auditLimits.passMs;
    const ledgers = {
      cursor: this.#ledgers,
      max: auditLimits.ledgersMax,
      partition: (shard: number) => ledgerListingPartition(region, shard),
    };
    await this.#walk(ledgers, giveUpAtMs, counts, (one) => this.#auditLedger(one, counts));
    const logs = { cursor: this.#logs, max: auditLimits.logsMax, partition: directoryPartition };
    await this.#walk(logs, giveUpAtMs, counts, (one) => this.#auditLog(one, counts));
    return counts;
  }

  /** At most once around (E1). */
  async #walk(
    over: { readonly cursor: Cursor; readonly max: number; readonly partition: (shard: number) => string },
    giveUpAtMs: number,
    counts: Counts,
    visit: (one: Versioned) => Promise<void>,
  ): Promise<void> {
    const { cursor } = over;
    let left = over.max;
    for (let shards = 0; shards <= DIRECTORY_SHARDS && left > 0; ) {
      const page = await this.#page(over.partition(cursor.shard), cursor.after, left, counts);
      for (let start = 0; start < page.length; start += auditLimits.atOnce) {
        if (this.ports.clock.monotonicMs() >= giveUpAtMs) return;
        const some = page.slice(start, start + auditLimits.atOnce);
        const done = await Promise.allSettled(some.map(visit));
        counts.failures += done.filter(({ status }) => status === "rejected").length;
        cursor.after = some.at(-1)?.key.sort;
      }
      left -= page.length;
      if (left <= 0) return;
      cursor.shard = (cursor.shard + 1) % DIRECTORY_SHARDS;
      cursor.after = undefined;
      shards += 1;
    }
  }

  async #page(partition: string, after: string | undefined, limit: number, counts: Counts) {
    const from = after === undefined ? {} : { from: `${after}\u0000` };
    try {
      return await this.ports.metadata.query({ partition, ...from, order: "ascending", limit }, "consistent");
    } catch {
      counts.failures += 1;
      return [];
    }
  }

  async #auditLedger({ item }: Versioned, counts: Counts): Promise<void> {
    if (item.kind !== "ledger-listing") return;
    counts.ledgers += 1;
    const verdict = await auditLedger(this.ports, item);
    counts.verdicts[verdict] = (counts.verdicts[verdict] ?? 0) + 1;
  }

  async #auditLog({ item }: Versioned, counts: Counts): Promise<void> {
    if (item.kind !== "directory") return;
    const { metadata, region } = this.ports;
    counts.logs += 1;
    const log = await findLog(metadata, item.name);
    const last = await lastItem(metadata, log.log, "consistent");
    if (last === undefined) return;
    const owner = last.kind === "segment" ? last.item.ownerRegion : region;
    if (owner === region) {
      const { removed, failed } = await auditSegments(this.ports, log.log);
      counts.segmentsRemoved += removed.length;
      counts.failures += failed.length;
    } else if (last.kind === "segment" && this.#mayReturn(log, last.item.createdAtMs)) {
      await this.bringHome(log.name, region);
      counts.returned += 1;
    }
  }

  /** E3. */
  #mayReturn({ preferredRegion }: LogItem, ownedSinceMs: number): boolean {
    const { region, topology, clock } = this.ports;
    if (preferredRegion !== region) return false;
    if ((topology.states?.().regions.get(region) ?? "accepting") !== "accepting") return false;
    return clock.nowMs() - ownedSinceMs >= auditLimits.preferReturnMs;
  }
}
