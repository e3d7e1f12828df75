/**
 * A reader goes on from where another one ended, while somebody appends the very records that come next: at
 * whatever step of the search that happens, the reader must not begin behind it.
 */
import { describe, expect, test } from "vitest";
import { entryId, segmentNumber } from "../../../lib/protocol/ids.ts";
import type { ReadPlace } from "../../../lib/protocol/log/operations.ts";
import { LOG, LogWorld, recordOf } from "./log-world.ts";

const dlsn = (segment: number, entry: number, slot: number): ReadPlace => ({
  kind: "dlsn",
  dlsn: { segment: segmentNumber(segment), entry: entryId(entry), slot },
});
const append = (text: string, timestampMs: number) => ({
  log: LOG,
  records: [{ ...recordOf(text), timestampMs }],
});

/**
 * Where a read begins when records 1 and 2 are appended just before its `step`-th call; undefined: it makes fewer.
 */
async function begun(step: number, place: ReadPlace, how: How): Promise<number | undefined> {
  const w = await LogWorld.make({ segmentBytesMax: how.rolls ? 1 : 1_000 });
  const p = w.client("P");
  await w.run(p.appends.append(append("a", 10)));
  const t = w.client("T", "west");
  let calls = 0;
  w.faults.at({ client: "T" }, "before", Number.POSITIVE_INFINITY, async () => {
    calls += 1;
    // Two, since the second one shows local readers that the first one is confirmed.
    if (calls === step) for (const text of ["b", "c"]) await p.appends.append(append(text, 20));
  });
  const { consistency } = how;
  const { records, next } = await w.run(t.reads.read({ log: LOG, from: place, limit: 1, consistency }));
  return calls < step ? undefined : (records[0]?.seqNum ?? next);
}

interface How {
  readonly consistency: "strong" | "local";
  readonly rolls: boolean;
}

describe.each(["strong", "local"] as const)("a %s seek skips nothing", (consistency) => {
  test.each([
    ["behind the last record's entry", false, dlsn(1, 1, 0)],
    ["the same, and the segment is rolled", true, dlsn(1, 1, 0)],
    ["far behind it, and the segment is rolled", true, dlsn(1, 9, 0)],
    ["in the segment that comes next", true, dlsn(2, 0, 0)],
    ["behind the last record's slot", false, dlsn(1, 0, 1)],
    ["by time", true, { kind: "timestamp", timestampMs: 15 }],
  ] as const)("%s", async (_, rolls, place) => {
    const begins: (number | undefined)[] = [];
    do begins.push(await begun(begins.length + 1, place, { consistency, rolls }));
    while (begins.at(-1) !== undefined);
    expect(begins.length).toBeGreaterThan(5);
    expect(Math.max(...begins.map((one = 0) => one))).toBeLessThanOrEqual(1);
  });
});
