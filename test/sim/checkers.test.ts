/**
 * Checkers can fail. Most are shown to by a mutant (`--mutants` prints which); for these another checker
 * objects first to every mutant that there is, so they are shown what must not be.
 */
import { describe, expect, test } from "vitest";
import { entryId, ledgerId, region } from "../../lib/protocol/ids.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import { acknowledgedInOrder } from "./checkers/acknowledged-in-order.ts";
import { acknowledgedKept } from "./checkers/acknowledged-kept.ts";
import type { Checker } from "./checkers/checker.ts";
import { oneOwner } from "./checkers/one-owner.ts";
import { positionsTold } from "./checkers/positions-told.ts";
import { warmAppendsAskNothing } from "./checkers/warm-appends-ask-nothing.ts";
import type { Answer, Operation, Request } from "./history.ts";
import type { FunctionCall, Observer } from "./observations.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

const LEDGER = ledgerId(7);
const process = (of: string) => ({ name: `writer of ${of}`, region: region(of) }) as SimulatedProcess;

function operation(request: Request, answer: Answer): Operation {
  return { number: 1, actor: "w", process: process("east"), request, answer, startedAt: 1, endedAt: 2 };
}
const added = (content: number, at: number) =>
  operation({ kind: "add", ledgerId: LEDGER, content }, { kind: "stored", at });
const confirmed = (at: number): TraceEvent =>
  ({ event: "entry-acknowledged", ledgerId: LEDGER, entryId: entryId(at) }) as TraceEvent;

/** What a checker says of what it is shown. */
function said(checker: Checker, world: object, show: (observer: Observer) => void): string[] {
  const words: string[] = [];
  show(checker.watch(world as World, (what) => words.push(what)));
  return words;
}

describe("acknowledged-in-order", () => {
  const told = (...places: number[]) =>
    said(acknowledgedInOrder, {}, (one) => {
      for (const at of places) one.operated?.(added(at, at));
    });
  const confirming = (...places: number[]) =>
    said(acknowledgedInOrder, {}, (one) => {
      for (const at of places) one.emitted?.(confirmed(at), process("east"));
    });

  test.each([told, confirming])(
    "objects to a gap, to a fall and to a repetition, and to nothing else",
    (show) => {
      expect(show(0, 1, 2)).toEqual([]);
      expect(show(0, 2)).toHaveLength(1);
      expect(show(0, 1, 0)).toHaveLength(1);
      expect(show(0, 0)).toHaveLength(1);
      expect(show(1)).toHaveLength(1);
    },
  );
});

describe("acknowledged-kept", () => {
  const finished = (readBack: readonly number[] | undefined) => {
    const world = { readBack: new Map(readBack === undefined ? [] : [[LEDGER, readBack]]) };
    return said(acknowledgedKept, world, (one) => {
      one.operated?.(added(40, 0));
      one.operated?.(added(41, 1));
      one.finished?.();
    });
  };

  test("objects to an acknowledged entry that is lost or changed in the end", () => {
    expect(finished([40, 41, 99])).toEqual([]);
    expect(finished([40])).toEqual(["entry 1 was 41 and in the end is not there"]);
    expect(finished([40, 42])).toEqual(["entry 1 was 41 and in the end is 42"]);
  });

  test("objects to a reader who is given something else, or two who are given different things", () => {
    const read = (content: number) =>
      operation(
        { kind: "read", ledgerId: LEDGER, entryId: entryId(0), strong: false },
        { kind: "entry", content },
      );
    const reads = (...contents: number[]) =>
      said(acknowledgedKept, {}, (one) => {
        for (const content of contents) one.operated?.(read(content));
      });
    expect(reads(40, 40)).toEqual([]);
    expect(reads(40, 41)).toHaveLength(1);
  });
});

describe("positions-told", () => {
  test("objects to a conditional append that stands elsewhere, whatever its caller was told", () => {
    const append = operation({ kind: "append", log: "orders", contents: [5], match: 0 }, {
      kind: "none",
      reason: "unknown",
    } as Answer);
    const standing = (...final: number[]) => {
      const world = { logs: new Map([["orders", final]]), history: { operations: [append] } };
      return said(positionsTold, world, (one) => one.finished?.());
    };
    expect(standing(5, 6)).toEqual([]);
    expect(standing(6)).toEqual([]);
    expect(standing(6, 5)).toHaveLength(1);
  });
});

describe("one-owner", () => {
  test("objects to an acknowledgement by a process of another region than the ledger's", () => {
    const ledger = { item: { kind: "ledger", origin: { ownerRegion: region("east") } } };
    const world = { table: { get: () => ledger }, bookies: new Map() };
    const by = (of: string) => said(oneOwner, world, (one) => one.emitted?.(confirmed(0), process(of)));
    expect(by("east")).toEqual([]);
    expect(by("west")).toHaveLength(1);
  });
});

describe("warm-appends-ask-nothing", () => {
  const instance = process("east");
  const call = (kind: FunctionCall["kind"]): FunctionCall =>
    ({ process: instance, kind, isForwarded: false, request: { log: "orders", records: [] } }) as never;
  const ack = { epoch: 1, ownerRegion: "east", duplicate: false };

  /** An append, then what happens to the instance meanwhile, then another append that asks for `partition`. */
  const second = (partition: string, meanwhile: (one: Observer) => void = () => {}) => {
    const scheduler = { nowMs: 100_000 };
    return said(warmAppendsAskNothing, { scheduler, plan: {} }, (one) => {
      const append = (asks?: string) => {
        const made = call("append");
        one.functionCalled?.(made, { kind: "began" });
        if (asks !== undefined) one.metadataAsked?.(instance, asks);
        one.functionCalled?.(made, { kind: "answered", value: ack });
      };
      const item = { kind: "log-name", name: "orders", incarnation: "a1" };
      one.metadataChanged?.({ after: { item } } as never);
      append();
      meanwhile(one);
      scheduler.nowMs += 1_000;
      append();
      append(partition);
    });
  };

  test("objects to a request about the log, not to what a trim of another left behind", () => {
    for (const partition of ["name#orders", "segments#a1", "log#a1", "ledger#7", "directory#3"]) {
      expect(second(partition), partition).toEqual(["writer of east asked 1 times in a warm append"]);
    }
    for (const partition of ["name#others", "segments#b2", "log#b2"]) {
      expect(second(partition), partition).toEqual([]);
    }
  });

  test("does not judge an instance in which a call was given up lately", () => {
    const fails = (one: Observer) => {
      const trim = call("keep");
      one.functionCalled?.(trim, { kind: "began" });
      one.functionCalled?.(trim, { kind: "failed", error: "timeout" });
    };
    expect(second("segments#a1", fails)).toEqual([]);
  });
});
