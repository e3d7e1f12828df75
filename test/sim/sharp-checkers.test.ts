/** Wrong histories that look right from afar: each checker here objects to the one and not to its neighbour. */
import { describe, expect, test } from "vitest";
import { entryId, ledgerId, region, segmentNumber, seqNum } from "../../lib/protocol/ids.ts";
import { segmentKey } from "../../lib/protocol/items.ts";
import {
  closeLedger,
  type DeletedLedger,
  deleteLedger,
  type OpenLedger,
  startRecovery,
} from "../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../lib/protocol/limits.ts";
import { isAckSet, provesAbsence, writeSet } from "../../lib/protocol/replication.ts";
import { acknowledgedKept } from "./checkers/acknowledged-kept.ts";
import { acknowledgedOnAckSet } from "./checkers/acknowledged-on-ack-set.ts";
import { closedWhole } from "./checkers/closed-whole.ts";
import { ledgerTransitions } from "./checkers/ledger-transitions.ts";
import { sealsKept } from "./checkers/seals-kept.ts";
import { segmentsChain } from "./checkers/segments-chain.ts";
import { writeOnce } from "./checkers/write-once.ts";
import { areAckSet, bookiesOf, leaveNoAckQuorum } from "./quorums.ts";
import { entryOf, LEDGER, LOG, members, open, ShownWorld } from "./shown-world.ts";
import { flipped } from "./state-faults.ts";
import type { World } from "./world.ts";

const closedAt = (lastEntry: number) =>
  closeLedger(startRecovery(open as OpenLedger), {
    lastEntry: (lastEntry < 0 ? -1 : lastEntry) as never,
    length: 6,
  });
const DELETED: DeletedLedger = deleteLedger(closedAt(0), 0);
const HOUR_MS = 3_600_000;

describe("acknowledged-on-ack-set", () => {
  const acknowledged = (holders: readonly number[], contents: readonly number[] = [1, 1, 1]) => {
    const world = new ShownWorld(acknowledgedOnAckSet);
    world.ledger(open);
    for (const index of holders)
      world.slot(index, 0, { kind: "original", entry: entryOf(0, contents[index] ?? 1) });
    const event = { event: "entry-acknowledged", ledgerId: LEDGER, entryId: entryId(0) } as never;
    world.observer.emitted?.(event, undefined as never);
    return world.said;
  };

  test("wants ack quorum and regions, at that moment", () => {
    expect(acknowledged([0, 2])).toEqual([]);
    expect(acknowledged([0])).toHaveLength(1);
    expect(acknowledged([0, 1])).toHaveLength(1);
  });

  test("wants one content", () => {
    expect(acknowledged([0, 2], [1, 1, 2])).toHaveLength(1);
  });

  test("counts no Recovered copy", () => {
    const world = new ShownWorld(acknowledgedOnAckSet);
    world.ledger(open);
    world.slot(0, 0, { kind: "original", entry: entryOf(0, 1) });
    world.slot(2, 0, { kind: "recovered", entry: entryOf(0, 1) });
    const event = { event: "entry-acknowledged", ledgerId: LEDGER, entryId: entryId(0) } as never;
    world.observer.emitted?.(event, undefined as never);
    expect(world.said).toHaveLength(1);
  });
});

describe("closed-whole", () => {
  const closedWith = (by: readonly string[]) => {
    const world = new ShownWorld(closedWhole);
    world.ledger(open);
    for (const [index, tenure] of by.entries())
      world.slot(index, 0, { kind: "original", entry: entryOf(0, 1, tenure) });
    world.ledger(startRecovery(open as OpenLedger));
    world.ledger(closedAt(0));
    return world.said;
  };

  test("tells copies apart by all their bytes, not by the number in a payload", () => {
    expect(closedWith(["t", "t", "t"])).toEqual([]);
    expect(closedWith(["t", "t", "other"])).toEqual(["entry 0 has 2 contents"]);
  });
});

describe("ledger-transitions", () => {
  test("a ledger is deleted only once it is closed", () => {
    const moved = (...states: (typeof open)[]) => {
      const world = new ShownWorld(ledgerTransitions);
      for (const state of states) world.ledger(state);
      return world.said;
    };
    expect(moved(open, startRecovery(open as OpenLedger), closedAt(0), DELETED)).toEqual([]);
    expect(moved(open, DELETED)).toEqual(["is deleted while OPEN"]);
    expect(moved(open, startRecovery(open as OpenLedger), DELETED)).toEqual(["is deleted while IN_RECOVERY"]);
  });
});

describe("seals-kept", () => {
  /** A fence that goes `ageMs` after the metadata said DELETED, whatever its writer's clock said. */
  const goesAfter = (ageMs: number, noted: DeletedLedger, skewMs = 0) => {
    const faults = [{ kind: "clock-skewed", target: "a", fromMs: 0, toMs: 0, amount: skewMs }] as const;
    const world = new ShownWorld(sealsKept, skewMs === 0 ? [] : faults);
    world.storage(0).put({ kind: "fence", ledgerId: LEDGER }, { kind: "fence" });
    world.nowMs = 1_000;
    world.ledger(closedAt(0));
    world.ledger(noted);
    world.nowMs += ageMs;
    world.storage(0).delete({ kind: "fence", ledgerId: LEDGER });
    return world.said;
  };

  test("the whole seal age, from the moment of the deletion", () => {
    expect(goesAfter(limits.sealAgeMs, DELETED)).toEqual([]);
    expect(goesAfter(limits.sealAgeMs - HOUR_MS, DELETED)).toHaveLength(1);
    const longAgo = { ...DELETED, deletedAtMs: -limits.sealAgeMs };
    expect(goesAfter(limits.sealAgeMinMs, longAgo)).toHaveLength(1);
  });

  test("as far as the clocks of the run tell it", () => {
    expect(goesAfter(limits.sealAgeMs - HOUR_MS, DELETED, HOUR_MS)).toEqual([]);
    expect(goesAfter(limits.sealAgeMs - 3 * HOUR_MS, DELETED, HOUR_MS)).toHaveLength(1);
  });
});

test("acknowledged-kept objects to what was added once and stands there twice", () => {
  const finished = (kept: readonly number[]) => {
    const said: string[] = [];
    const world = { readBack: new Map([[LEDGER, kept]]) } as unknown as World;
    acknowledgedKept.watch(world, (what) => said.push(what)).finished?.();
    return said;
  };
  expect(finished([4, 5, 6])).toEqual([]);
  expect(finished([4, 5, 4])).toHaveLength(1);
});

test("write-once objects to a last add confirmed that falls when another tenure goes on", () => {
  const goesOnWith = (confirmed: number) => {
    const world = new ShownWorld(writeOnce);
    world.ledger(open);
    for (let at = 0; at < 4; at++) {
      const event = { event: "entry-acknowledged", ledgerId: LEDGER, entryId: entryId(at) } as never;
      world.observer.emitted?.(event, undefined as never);
    }
    world.slot(0, 3, { kind: "original", entry: entryOf(3, 1, "one", 2) });
    world.slot(0, 4, { kind: "original", entry: entryOf(4, 2, "other", confirmed) });
    return world.said;
  };
  expect(goesOnWith(3)).toEqual([]);
  expect(goesOnWith(2)).toEqual([]);
  expect(goesOnWith(1)).toEqual(["the last add confirmed falls at entry 4"]);
});

test("segments-chain objects to an item that goes while a reader may still need it", () => {
  const removedAt = (trimPoint: number) => {
    const world = new ShownWorld(segmentsChain);
    world.log({ trimPoint: seqNum(9) });
    for (const first of [0, 2, 5]) {
      world.put(segmentKey(LOG, seqNum(first)), {
        kind: "segment",
        number: segmentNumber(first + 1),
        ledgerId: ledgerId(first),
        ownerRegion: region("east"),
        createdAtMs: 0,
      });
    }
    world.log({ trimPoint: seqNum(trimPoint) });
    world.remove(segmentKey(LOG, seqNum(2)));
    return world.said;
  };
  expect(removedAt(5)).toEqual([]);
  expect(removedAt(4)).toEqual(["item 2 is removed, and the trim point is 4"]);
});

test("the checkers' own arithmetic is the protocol's", () => {
  for (const [ensembleSize, writeQuorum, ackQuorum] of [
    [3, 3, 2],
    [3, 2, 2],
    [3, 3, 3],
    [3, 2, 1],
  ] as const) {
    for (let entry = 0; entry < 7; entry++) {
      const replication = { ensembleSize, writeQuorum, ackQuorum, minRegions: Math.min(2, ackQuorum) };
      const fragments = [{ firstEntry: entryId(0), ensemble: members }];
      const set = bookiesOf({ fragments, replication }, entry);
      expect(set).toEqual(
        writeSet(entryId(entry), { firstEntry: entryId(0), ensemble: members }, replication),
      );
      for (let some = 0; some < 2 ** set.length; some++) {
        const chosen = set.filter((_, index) => (some >> index) % 2 === 1);
        expect(areAckSet(chosen, replication)).toBe(isAckSet(chosen, replication));
        expect(leaveNoAckQuorum(chosen, replication)).toBe(provesAbsence(chosen, set, replication));
      }
    }
  }
});

test("rot takes one bit, of the payload or of the digest", () => {
  const entry = entryOf(0, 1);
  const hit = { payload: 0, digest: 0 };
  const bits = (one: Uint8Array, other: Uint8Array) =>
    one.reduce((sum, byte, at) => sum + (byte ^ (other[at] ?? 0)).toString(2).replaceAll("0", "").length, 0);
  for (let where = 0; where < 2 ** 20; where += 4_099) {
    const rotten = flipped(entry, where);
    const [payload, digest] = [bits(entry.payload, rotten.payload), bits(entry.digest, rotten.digest)];
    expect(payload + digest).toBe(1);
    hit.payload += payload;
    hit.digest += digest;
  }
  expect(hit.digest).toBeGreaterThan(hit.payload / 5);
  expect(hit.payload).toBeGreaterThan(hit.digest);
  const empty = { ...entry, payload: new Uint8Array() };
  expect(flipped(empty, 8)).toMatchObject({ payload: new Uint8Array() });
  expect(bits(empty.digest, flipped(empty, 8).digest)).toBe(1);
});
