/**
 * BookKeeper's speculative-read vectors (TestSpeculativeRead, BookieStickyReadsTest), by their numbers in our
 * notes, with its times as upper bounds: its fixed timers of seconds are half a second here. Left out: what
 * keeps one bookie for a handle (S6 and S7 with stickiness on), since nearest and least loaded decides for
 * each entry anew, and the rule that an answer to one entry forbids hedging another (S5), which is defect 33.
 */
import { expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { anyAnswer, bookieAt, inMs, nameOf, ReadingWorld, silent } from "./reading-world.ts";

/** A reader that does not know its region asks in the order of the write set, as the vectors assume. */
function world(): ReadingWorld {
  return new ReadingWorld({});
}

const bookies = [1, 2, 3, 4, 5].map((number) => bookieAt(`b${number}`, "/r1/a"));

/** The write set of an entry: as many bookies as asked for, from the entry's own on. */
function writeSet(entry: number, ensemble: readonly BookieAddress[], size: number): BookieAddress[] {
  return Array.from(
    { length: size },
    (_, offset) => ensemble[(entry + offset) % ensemble.length] as BookieAddress,
  );
}

test("S1 with one of three asleep the entry that starts there is read all the same", async () => {
  const ensemble = bookies.slice(0, 3);
  const reading = world();
  reading.behave(ensemble[1] as BookieAddress, silent);
  await reading.read(writeSet(0, ensemble, 2));
  expect(reading.scheduler.nowMs).toBeLessThan(2_000);
  const startedMs = reading.scheduler.nowMs;
  const answer = await reading.read(writeSet(1, ensemble, 2));
  expect(answer).toMatchObject({ kind: "answer", facts: { failovers: 1 } });
  expect(reading.scheduler.nowMs - startedMs).toBeLessThan(4_000);
  // BookKeeper has one slow bookie now, banned for a minute; one silence is no evidence for us (defect 28).
  expect(ensemble.some((bookie) => reading.policy.isSuspect(bookie.id))).toBe(false);
});

test("S2 with three of five asleep each entry is read, and what was asleep is avoided later", async () => {
  const reading = world();
  for (const asleep of [1, 2, 4]) reading.behave(bookies[asleep] as BookieAddress, silent);
  const took: number[] = [];
  for (const entry of [0, 1, 2, 3, 4]) {
    const startedMs = reading.scheduler.nowMs;
    expect((await reading.read(writeSet(entry, bookies, 5))).kind).toBe("answer");
    took.push(reading.scheduler.nowMs - startedMs);
  }
  const boundsMs = [2_500, 15_000, 5_000, 2_500, 10_000];
  took.forEach((ms, entry) => {
    expect(ms).toBeLessThan(boundsMs[entry] ?? 0);
  });
  // Three silences in a row, and the sleepers are asked last.
  for (const entry of [1, 1, 2, 2, 4, 4]) await reading.read(writeSet(entry, bookies, 5));
  await reading.read(writeSet(1, bookies, 5));
  expect(reading.asked(reading.lastRead)).toEqual(["b4"]);
});

test("S3 with both asleep the first may still answer after the second was asked", async () => {
  const pair = bookies.slice(0, 2);
  const reading = world();
  reading.behave(pair[0] as BookieAddress, inMs(900));
  reading.behave(pair[1] as BookieAddress, silent);
  const answer = await reading.read(pair);
  expect(answer.kind === "answer" && nameOf(answer.bookie)).toBe("b1");
  expect(reading.asked(0)).toEqual(["b1", "b2"]);
  expect(reading.scheduler.nowMs).toBe(900);
  reading.behave(pair[0] as BookieAddress, inMs(10));
  await reading.read(pair);
  expect(reading.scheduler.nowMs).toBe(910);
});

test("S5 each replica is asked at most once, the next in order, and none after the answer", async () => {
  const reading = world();
  reading.behave(bookies[0] as BookieAddress, inMs(1, "error"));
  reading.behave(bookies[1] as BookieAddress, inMs(1, "error"));
  await reading.read(bookies.slice(0, 3));
  expect(reading.asked(0)).toEqual(["b1", "b2", "b3"]);
  await reading.pass(10_000);
  expect(reading.calls).toHaveLength(3);
});

test("S6 without stickiness reads are spread over all bookies", async () => {
  const reading = new ReadingWorld({ region: region("r1") });
  await reading.readMany(bookies.slice(0, 3), 60);
  const asked = new Set(reading.calls.map((call) => nameOf(call.bookie)));
  expect([...asked].sort()).toEqual(["b1", "b2", "b3"]);
});

test("S7 ten reads with a bookie suspended after the first: all answered by the others", async () => {
  const reading = new ReadingWorld({ region: region("r1") });
  const three = bookies.slice(0, 3);
  const answers = new Map<string, number>();
  const first = await reading.read(three);
  if (first.kind !== "answer") throw new Error("the first read was answered by none");
  reading.behave(first.bookie, silent);
  for (let read = 0; read < 10; read++) {
    const answer = await reading.read(three);
    const name = answer.kind === "answer" ? nameOf(answer.bookie) : "none";
    answers.set(name, (answers.get(name) ?? 0) + 1);
  }
  expect(answers.has("none")).toBe(false);
  expect(answers.get(nameOf(first.bookie))).toBeUndefined();
  expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBe(10);
});

test("S7 and once the suspended bookie is known it costs no read a wait", async () => {
  const reading = new ReadingWorld({ region: region("r1") });
  const three = bookies.slice(0, 3);
  reading.behave(three[0] as BookieAddress, silent);
  await reading.readMany(three, 30);
  const startedMs = reading.scheduler.nowMs;
  const read = speculativeRead(reading.policy, {
    writeSet: three,
    call: (bookie) => (bookie === three[0] ? new Promise<string>(() => undefined) : Promise.resolve("entry")),
    judge: anyAnswer,
  });
  await reading.settle(read);
  expect(reading.scheduler.nowMs - startedMs).toBe(0);
});
