/** What trimmed records were is known of a life's last segment, too, whose ledger nobody has closed yet. */
import { expect, test } from "vitest";
import { ledgerId, logIncarnation, region, type SeqNum } from "../../lib/protocol/ids.ts";
import { segmentKey } from "../../lib/protocol/items.ts";
import { encodeRecordSet } from "../../lib/protocol/log/records/record-set.ts";
import { payloadOf, simulatedDigest } from "./content.ts";
import { ShadowLogs } from "./shadow-logs.ts";
import { entryOf, LEDGER, LOG, open, ShownWorld } from "./shown-world.ts";
import type { World } from "./world.ts";

const origin = { log: LOG, firstSeqNum: 0 as SeqNum, ownerRegion: region("east") };

/** Two entries of two records each on one bookie of an open ledger. */
function shown() {
  const world = new ShownWorld({ name: "none", watch: () => ({}) });
  world.ledger({ ...open, origin });
  for (const entry of [0, 1]) {
    const { header } = entryOf(entry, 0);
    const records = [10, 11].map((content) => ({
      body: payloadOf(content + 2 * entry, 0),
      headers: [],
      timestampMs: 0,
    }));
    const payload = encodeRecordSet((2 * entry) as SeqNum, records as never);
    const digest = simulatedDigest.compute({ type: "crc32" }, header, payload);
    world.slot(entry, entry, { kind: "original", entry: { header, payload, digest } });
  }
  const name = (log = LOG, id = LEDGER) =>
    world.put(segmentKey(log, 0 as SeqNum), {
      kind: "segment",
      number: 0 as never,
      ledgerId: id,
      ownerRegion: region("east"),
      createdAtMs: 0,
    });
  return { name, shadow: new ShadowLogs(world as unknown as World) };
}

test("the records of an open ledger that its log names", () => {
  const { name, shadow } = shown();
  name();
  expect(shadow.first(LOG, 3)).toEqual([10, 11, 12]);
  expect(shadow.first(LOG, 5)).toEqual([10, 11, 12, 13, -1]);
  expect(shadow.first(logIncarnation("another"), 1)).toEqual([-1]);
});

test("nothing of a ledger that no log names", () => {
  const { name, shadow } = shown();
  name(LOG, ledgerId(8));
  expect(shadow.first(LOG, 1)).toEqual([-1]);
});
