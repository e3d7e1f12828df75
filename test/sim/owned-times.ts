/** Which region owned a log from when to when, as its last segment says: nobody's word. */
import type { LedgerId, LogIncarnation, Region } from "../../lib/protocol/ids.ts";
import { segmentsPartition } from "../../lib/protocol/items.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { World } from "./world.ts";

/** One segment's time as the last one of its log. */
export interface OwnedTime {
  readonly name: string;
  readonly owner: Region;
  readonly epoch: number;
  readonly ledgerId: LedgerId;
  readonly fromMs: number;
  /** In moments of the history. */
  readonly from: number;
  to: number;
}

export class OwnedTimes {
  /** Of each life of each log, one after the other. */
  readonly #times = new Map<LogIncarnation, OwnedTime[]>();

  constructor(private readonly world: World) {}

  of(name: string): readonly OwnedTime[] {
    return [...this.#times.values()].flat().filter((one) => one.name === name);
  }

  /** Those of the present owner of this life, the latest last, as far back as it has owned the log. */
  ofOwner(log: LogIncarnation): readonly OwnedTime[] {
    const times = this.#times.get(log) ?? [];
    const before = times.findLastIndex(({ owner }) => owner !== times.at(-1)?.owner);
    return times.slice(before + 1);
  }

  metadataChanged({ key, before, after }: MetadataChange): void {
    const { table, history, scheduler } = this.world;
    if (!key.partition.startsWith("segments#") || (before ?? after) === undefined) return;
    const log = key.partition.replace("segments#", "") as LogIncarnation;
    const [last] = table.query({ partition: segmentsPartition(log), order: "descending", limit: 1 });
    const times = this.#times.get(log) ?? [];
    const now = times.at(-1);
    const item = last?.item.kind === "segment" ? last.item : undefined;
    if (item !== undefined && now?.ledgerId === item.ledgerId) return;
    if (now !== undefined && now.to > history.moment) now.to = history.moment;
    if (item === undefined) return;
    const name = table.itemsOf("log").find((one) => one.item.incarnation === log)?.item.name ?? "";
    const { ownerRegion: owner, number: epoch, ledgerId } = item;
    const [from, to] = [history.moment, Number.POSITIVE_INFINITY];
    this.#times.set(log, [...times, { name, owner, epoch, ledgerId, fromMs: scheduler.nowMs, from, to }]);
  }
}
