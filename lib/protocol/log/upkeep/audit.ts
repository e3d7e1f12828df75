/**
 * The auditor of a region: looks after its ledgers and after the logs that it owns, one bounded pass at a
 * time, on a schedule and off every request's path. Passes may overlap, and run in several processes: each
 * step is safe by itself, and what one pass leaves the next one finds.
 *
 * AU1 A pass takes up where this process's last one ended, and a new process begins somewhere: no ledger
 *     waits for another one, and no log for a region full of slow ledgers.
 * AU2 What fails is counted and left; nothing stops a pass but its time.
 * AU3 A log returns to the region that it prefers by that region's own auditor, through the owner, and only
 *     after it stayed with its last owner for a while: a region that comes and goes gets it once a while.
 * AU4 What a region left that operators call lost, every other one looks after as if it were its own.
 */
import { Age } from "../../deadline.ts";
import type { LogIncarnation, LogName, Region, SeqNum } from "../../ids.ts";
import { DIRECTORY_SHARDS, directoryPartition, type LogItem, ledgerListingPartition } from "../../items.ts";
import type { MetadataStore, Versioned } from "../../ports.ts";
import { randomBelow } from "../../random.ts";
import type { RegionState } from "../../replication.ts";
import { namedLog } from "../catalogue/log-names.ts";
import { lastAtOrBelow, lastItem, type SegmentAt } from "../chain/segments.ts";
import type { LogPorts } from "../log-ports.ts";
import { auditLedger, type LedgerVerdict } from "./audit-ledger.ts";
import { auditLimits } from "./audit-limits.ts";
import { auditSegments } from "./audit-segments.ts";
import { finishDeletion } from "./delete-log.ts";

interface Counts {
  ledgers: number;
  /** How many ledgers met which end. */
  verdicts: Partial<Record<LedgerVerdict, number>>;
  logs: number;
  /** Items that were taken out of chains. */
  segmentsRemoved: number;
  /** Logs that came home to this region. */
  returned: number;
  /** Logs whose deletion was left half way, and is done now. */
  deleted: number;
  failures: number;
}

/** Where a walk over partitions stands. */
interface Cursor {
  /** Of the partition, modulo how many there are now. */
  index: number;
  /** Sort keys up to and with this one are done. */
  after: string | undefined;
}

interface Walk {
  readonly cursor: Cursor;
  readonly partitions: readonly string[];
  /** Items, at most. */
  readonly max: number;
}

export class Auditor {
  #cursors: { readonly ledgers: Cursor; readonly logs: Cursor } | undefined;

  /** `bringHome`: has the region take a log over from its owner, as `AppendOperations.transferOwner` does. */
  constructor(
    private readonly ports: LogPorts,
    private readonly bringHome: (log: LogName, to: Region) => Promise<unknown>,
  ) {}

  /** One pass. Never throws what a port throws: that is counted (AU2). */
  async pass(): Promise<Readonly<Counts>> {
    const counts: Counts = {
      ledgers: 0,
      verdicts: {},
      logs: 0,
      segmentsRemoved: 0,
      returned: 0,
      deleted: 0,
      failures: 0,
    };
    const begun = new Age(this.ports.clock);
    this.#cursors ??= { ledgers: this.#somewhere(), logs: this.#somewhere() };
    const shards = Array.from({ length: DIRECTORY_SHARDS }, (_, shard) => shard);
    const ledgers = {
      cursor: this.#cursors.ledgers,
      max: auditLimits.ledgersMax,
      partitions: this.#regions().flatMap((region) =>
        shards.map((shard) => ledgerListingPartition(region, shard)),
      ),
    };
    // AU1: nor do logs wait for all ledgers
    await this.#walk(
      ledgers,
      () => begun.isOlder(auditLimits.passMs / 2),
      counts,
      (one) => this.#auditLedger(one, counts),
    );
    const logs = {
      cursor: this.#cursors.logs,
      max: auditLimits.logsMax,
      partitions: shards.map(directoryPartition),
    };
    await this.#walk(
      logs,
      () => begun.isOlder(auditLimits.passMs),
      counts,
      (one) => this.#auditLog(one, counts),
    );
    return counts;
  }

  /** AU1 */
  #somewhere(): Cursor {
    return { index: randomBelow(this.ports.random, DIRECTORY_SHARDS), after: undefined };
  }

  /** Its own, and those that operators gave up for good: nobody else looks after them (AU4). */
  #regions(): readonly Region[] {
    const states = this.ports.topology.states?.().regions ?? new Map<Region, RegionState>();
    const lost = [...states].filter(([, state]) => state === "lost").map(([region]) => region);
    return [...new Set([this.ports.region, ...lost])];
  }

  /** At most once around (AU1); of a partition that was taken up in its midst the begin comes last. */
  async #walk(
    { cursor, partitions, max }: Walk,
    isOver: () => boolean,
    counts: Counts,
    visit: (one: Versioned) => Promise<void>,
  ): Promise<void> {
    const begunAfter = cursor.after;
    const stops = partitions.length + (begunAfter === undefined ? 0 : 1);
    let left = max;
    for (let seen = 0; seen < stops && left > 0; seen++) {
      const partition = partitions[cursor.index % partitions.length] as string;
      const until = seen === partitions.length ? begunAfter : undefined;
      const page = await this.#page(partition, cursor.after, until, left, counts);
      for (let start = 0; start < page.length; start += auditLimits.atOnce) {
        if (isOver()) return;
        const some = page.slice(start, start + auditLimits.atOnce);
        const done = await Promise.allSettled(some.map(visit));
        counts.failures += done.filter(({ status }) => status === "rejected").length;
        cursor.after = some.at(-1)?.key.sort;
      }
      left -= page.length;
      if (left <= 0) return;
      cursor.index = (cursor.index + 1) % partitions.length;
      cursor.after = undefined;
    }
  }

  /**
   * Of a partition, behind `after` and up to `until`, by sort keys; undefined: from its beginning, to its
   * end.
   */
  async #page(
    partition: string,
    after: string | undefined,
    until: string | undefined,
    limit: number,
    counts: Counts,
  ) {
    const from = after === undefined ? {} : { from: `${after}\u0000` };
    const to = until === undefined ? {} : { to: until };
    const query = { partition, ...from, ...to, order: "ascending", limit } as const;
    try {
      return await this.ports.metadata.query(query, "consistent");
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
    const log = await namedLog(metadata, item.name); // a deletion that was left half way is finished here
    if (log === undefined) return;
    if (log.state === "deleting") {
      if ((await finishDeletion(this.ports, log.incarnation)) === "deleted") counts.deleted += 1;
      return;
    }
    const last = await lastItem(metadata, log.incarnation, "consistent");
    if (last === undefined) return;
    const owner = last.kind === "segment" ? last.item.ownerRegion : region;
    if (owner === region || this.#stateOf(owner) === "lost") {
      const { removed, failed } = await auditSegments(this.ports, log.incarnation);
      counts.segmentsRemoved += removed.length;
      counts.failures += failed.length;
    } else if (last.kind === "segment" && (await this.#mayReturn(log, last))) {
      await this.bringHome(log.name, region);
      counts.returned += 1;
    }
  }

  #stateOf(region: Region): RegionState {
    return this.ports.topology.states?.().regions.get(region) ?? "accepting";
  }

  /** AU3. */
  async #mayReturn({ preferredRegion, incarnation: log }: LogItem, last: SegmentAt): Promise<boolean> {
    const { region, clock, metadata } = this.ports;
    if (preferredRegion !== region || this.#stateOf(region) !== "accepting") return false;
    return await isOwnedSince(metadata, log, last, clock.nowMs() - auditLimits.preferReturnMs);
  }
}

/**
 * Whether the owner of the last segment has owned the log since `sinceMs`, wall time in ms, or through so
 * many segments that it may count as that: a busy log rolls more often than it changes its owner. What was
 * trimmed says nothing any more, and an empty segment that was replaced (24) does not say whose it was.
 */
async function isOwnedSince(
  metadata: MetadataStore,
  log: LogIncarnation,
  last: SegmentAt,
  sinceMs: number,
): Promise<boolean> {
  const { ownerRegion } = last.item;
  let earliest = last;
  for (let seen = 1; seen < auditLimits.ownedSegmentsMax; seen++) {
    if (earliest.item.createdAtMs <= sinceMs) return true;
    if (earliest.first === 0) return false;
    const before = await lastAtOrBelow(metadata, log, (earliest.first - 1) as SeqNum, "consistent");
    if (before?.kind !== "segment" || before.item.ownerRegion !== ownerRegion) return false;
    if (before.item.number !== earliest.item.number - 1) return false; // one in between was replaced, empty
    earliest = before;
  }
  return true;
}
