/** Answers that something is not there: when they are true, and when the checker objects. */
import { expect, test } from "vitest";
import { entryId, segmentNumber, seqNum } from "../../lib/protocol/ids.ts";
import { segmentKey } from "../../lib/protocol/items.ts";
import {
  closeLedger,
  deleteLedger,
  type OpenLedger,
  startRecovery,
} from "../../lib/protocol/ledger-metadata.ts";
import { refusalsTrue } from "./checkers/refusals-true.ts";
import type { Answer, Request } from "./history.ts";
import { LEDGER, LOG, open, ShownWorld } from "./shown-world.ts";

const DELETED = deleteLedger(
  closeLedger(startRecovery(open as OpenLedger), { lastEntry: entryId(0), length: 6 }),
  0,
);

const read: Request = { kind: "read-log", log: "orders", from: 3, strong: true };
const none = (reason: string): Answer => ({ kind: "none", reason });
/** The log is created after moment 3, trimmed to 3 after 5, and deleted after 8. */
const lived = () => {
  const world = new ShownWorld(refusalsTrue);
  world.moment = 3;
  world.log();
  world.moment = 5;
  world.log({ trimPoint: seqNum(3) });
  world.moment = 8;
  return world;
};

test.each([
  [1, 2, true],
  [2, 4, true],
  [4, 5, false],
  [7, 8, false],
])("no such log, asked at %i and told at %i: %s", (from, to, isTrue) => {
  const world = lived();
  world.told(read, none("log_not_found: orders"), from, to);
  expect(world.said).toHaveLength(isTrue ? 0 : 1);
});

test("no such log is true again from its deletion on", () => {
  const world = lived();
  world.log({ state: "deleting" });
  world.told(read, none("log_not_found: orders"), 4, 8);
  expect(world.said).toHaveLength(1);
  world.told(read, none("log_not_found: orders"), 4, 9);
  world.told({ ...read, kind: "tail" }, none("log_not_found: orders"), 9, 10);
  expect(world.said).toHaveLength(1);
});

test("trimmed is what lies before the trim point", () => {
  const world = lived();
  world.told({ ...read, from: 2 }, none("position_trimmed: 2"), 6, 7);
  expect(world.said).toEqual([]);
  world.told(read, none("position_trimmed: 3"), 6, 7);
  expect(world.said).toHaveLength(1);
});

test("sealed is what has an END", () => {
  const world = lived();
  const append: Request = { kind: "append", log: "orders", contents: [1], match: undefined };
  world.told(append, none("log_sealed: orders"), 6, 7);
  expect(world.said).toHaveLength(1);
  world.put(segmentKey(LOG, seqNum(4)), { kind: "end", number: segmentNumber(2) });
  world.told(append, none("log_sealed: orders"), 8, 9);
  expect(world.said).toHaveLength(1);
});

test("a ledger that is there is neither missing nor deleted", () => {
  const world = new ShownWorld(refusalsTrue);
  const ask: Request = { kind: "read", ledgerId: LEDGER, entryId: entryId(0), strong: true };
  world.told(ask, none("missing"), 0, 1);
  world.moment = 2;
  world.ledger(open);
  world.told(ask, none("undecided"), 3, 4);
  expect(world.said).toEqual([]);
  world.told(ask, none("missing"), 3, 4);
  world.told(ask, none("deleted"), 3, 4);
  world.told({ kind: "recover", ledgerId: LEDGER }, none("no such ledger"), 3, 4);
  expect(world.said).toHaveLength(3);
  world.moment = 5;
  world.ledger(DELETED);
  world.told(ask, none("deleted"), 3, 6);
  expect(world.said).toHaveLength(3);
});
