/**
 * What an append is told is what is there: the records stand in the segment, entry and slots that the answer
 * names, with the seq_nums and timestamps that it names; a conditional append stands where its condition says,
 * whatever its caller was told, or nowhere.
 */
import type { LedgerId, LogIncarnation } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { AppendAck } from "../../../lib/protocol/log/operations.ts";
import { decodeRecordSet } from "../../../lib/protocol/log/record-set.ts";
import { contentOf } from "../content.ts";
import { contentsOfEntry } from "../entry-contents.ts";
import type { Content } from "../history.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

interface Told {
  readonly log: string;
  readonly contents: readonly Content[];
  readonly ack: AppendAck;
}

export const positionsTold: Checker = {
  name: "positions-told",
  watch(world, report) {
    const told: Told[] = [];
    /** Ledgers of segment numbers, of each life of a log. */
    const ledgers = new Map<LogIncarnation, Map<number, LedgerId>>();
    return {
      appended: (log, contents, ack) => void told.push({ log, contents, ack }),
      metadataChanged({ key, after }) {
        if (after?.item.kind !== "segment") return;
        const log = key.partition.replace("segments#", "") as LogIncarnation;
        const { number, ledgerId } = after.item;
        ledgers.set(log, (ledgers.get(log) ?? new Map()).set(number, ledgerId));
      },
      finished() {
        for (const one of told) {
          const lives = world.table.itemsOf("log").filter(({ item }) => item.name === one.log);
          const ids = lives.map(({ item }) => ledgers.get(item.log)?.get(one.ack.start.dlsn.segment));
          if (ids.some((id) => id !== undefined && standsIn(world, id, one))) continue;
          const { start, last } = one.ack;
          report(`${one.contents[0]} does not stand as told: ${JSON.stringify({ start, last })}`, one.log);
        }
        for (const wrong of misplaced(world)) report(wrong);
      },
    };
  },
};

function standsIn(world: World, ledgerId: LedgerId, { contents, ack: { start, last } }: Told): boolean {
  const ledger = world.table.get(ledgerKey(ledgerId))?.item;
  if (ledger?.kind !== "ledger") return false;
  const payload = contentsOfEntry(world, ledger, start.dlsn.entry)[0];
  if (payload === undefined || last.dlsn.entry !== start.dlsn.entry) return false;
  const { firstSeqNum, records } = decodeRecordSet(payload, "an entry");
  if (last.dlsn.slot - start.dlsn.slot !== contents.length - 1) return false;
  return contents.every((content, index) => {
    const slot = start.dlsn.slot + index;
    const record = records[slot];
    if (record === undefined || contentOf(record.body) !== content) return false;
    const end = index === 0 ? start : index === contents.length - 1 ? last : undefined;
    if (end === undefined) return true;
    return end.seqNum === firstSeqNum + slot && end.timestampMs === record.timestampMs;
  });
}

function* misplaced(world: World): Generator<string> {
  const places = new Map<string, ReadonlyMap<Content, number>>();
  for (const [log, final] of world.logs) {
    places.set(log, new Map(final.map((content, place) => [content, place])));
  }
  for (const { request, actor } of world.history.operations) {
    if (request.kind !== "append" || request.match === undefined) continue;
    const place = places.get(request.log)?.get(request.contents[0] ?? -1);
    if (place === undefined || place === request.match) continue;
    yield `${request.contents[0]} of ${actor} stands at ${place}, on the condition that it is ${request.match}`;
  }
}
