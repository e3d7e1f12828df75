import { describe, expect, test } from "vitest";
import { bookieId, type EntryId, entryId, ledgerId, region } from "../../../lib/protocol/ids.ts";
import type { Bookie, SlotAnswers } from "../../../lib/protocol/ports.ts";
import { GatheredReads } from "../../../lib/protocol/reads/gathered-reads.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { CallAbort } from "../../../lib/protocol/waiting.ts";
import { Scope } from "../../contracts/scope.ts";
import { TestClock } from "../../scenarios/test-clock.ts";

const ledger = ledgerId(1);
const scope = new Scope();
const address = { id: bookieId("r.b~s"), place: { region: region("r"), rack: "a" } };
const other = { id: bookieId("r.c~s"), place: { region: region("r"), rack: "b" } };

function found(entry: EntryId) {
  return { kind: "entry", copy: "original", entry: { ...scope.entry(ledger, entry) } } as const;
}

/** Bookies that answer whatever they are asked, and note it. */
function world(several?: (entries: readonly EntryId[]) => Promise<SlotAnswers>) {
  const clock = new TestClock();
  const asked: string[] = [];
  const aborted: string[] = [];
  const make = (id: typeof address.id): Pick<Bookie, "id" | "read" | "readSeveral"> => ({
    id,
    read: async (_ledger, entry) => {
      asked.push(`${id} ${entry}`);
      return found(entry);
    },
    readSeveral: (_ledger, entries, signal) => {
      asked.push(`${id} ${entries.join("+")}`);
      signal?.onAbort(() => aborted.push(entries.join("+")));
      return several?.(entries) ?? Promise.resolve(entries.map(found));
    },
  });
  const bookies = new Map([address, other].map(({ id }) => [id, make(id) as Bookie]));
  const reads = new GatheredReads(
    { clock, bookies: { bookie: (id) => bookies.get(id) ?? (make(id) as Bookie) } },
    ledger,
  );
  return { clock, asked, aborted, reads, bookies };
}

const entries = (count: number) => Array.from({ length: count }, (_, index) => entryId(index));

describe("hedges of one batch", () => {
  test("to one replica go out as one message, to another one as another", async () => {
    const { clock, asked, reads } = world();
    const ends = [
      ...entries(3).map((entry) => reads.read(address, entry, new CallAbort())),
      reads.read(other, entryId(7), new CallAbort()),
    ];
    const answers = await clock.run(Promise.all(ends));
    expect(asked).toEqual(["r.b~s 0+1+2", "r.c~s 7"]);
    expect(answers.map((answer) => answer.kind === "entry" && answer.entry.header.entryId)).toEqual([
      0, 1, 2, 7,
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("G1: what the message left unknown is asked for alone", async () => {
    const { clock, asked, reads } = world(async ([first]) => [
      first === undefined ? undefined : found(first),
    ]);
    const ends = entries(3).map((entry) => reads.read(address, entry, new CallAbort()));
    const answers = await clock.run(Promise.all(ends));
    expect(asked).toEqual(["r.b~s 0+1+2", "r.b~s 1", "r.b~s 2"]);
    expect(answers.every((answer) => answer.kind === "entry")).toBe(true);
  });

  test("fail together if the message fails, each for itself", async () => {
    const { clock, reads } = world(() => Promise.reject(new Error("refused")));
    const ends = entries(2).map((entry) =>
      reads.read(address, entry, new CallAbort()).catch((error) => String(error)),
    );
    expect(await clock.run(Promise.all(ends))).toEqual(["Error: refused", "Error: refused"]);
  });

  test("go out at once when there are enough of them", async () => {
    const { asked, reads, clock } = world();
    const ends = entries(readLimits.gatheredMax).map((entry) => reads.read(address, entry, new CallAbort()));
    await clock.idle();
    expect(asked.length).toBe(1);
    await Promise.all(ends);
    expect(clock.pendingTimers).toBe(0);
  });

  test("a bookie that reads one entry at a time is asked so", async () => {
    const { asked, reads, bookies, clock } = world();
    const one = bookies.get(address.id);
    if (one === undefined) throw new Error("no bookie");
    const { readSeveral: _, ...alone } = one;
    bookies.set(address.id, alone as Bookie);
    await clock.run(Promise.all(entries(2).map((entry) => reads.read(address, entry, new CallAbort()))));
    expect(asked).toEqual(["r.b~s 0", "r.b~s 1"]);
  });
});

describe("G2: called off", () => {
  test("before it went out, it does not go out, and leaves no timer", async () => {
    const { clock, asked, reads } = world();
    const aborts = entries(2).map(() => new CallAbort());
    const ends = aborts.map((abort, entry) =>
      reads.read(address, entryId(entry), abort).catch(() => "called off"),
    );
    for (const abort of aborts) abort.abort();
    expect(await Promise.all(ends)).toEqual(["called off", "called off"]);
    expect([clock.pendingTimers, asked]).toEqual([0, []]);
  });

  test("one of several leaves the others in it; all of them end the message", async () => {
    const never = () => new Promise<SlotAnswers>(() => {});
    const { clock, asked, aborted, reads } = world(never);
    const aborts = entries(2).map(() => new CallAbort());
    const ends = aborts.map((abort, entry) =>
      reads.read(address, entryId(entry), abort).catch(() => "called off"),
    );
    await clock.advance(readLimits.gatherMs);
    expect(asked).toEqual(["r.b~s 0+1"]);
    aborts[0]?.abort();
    expect([await ends[0], aborted]).toEqual(["called off", []]);
    aborts[1]?.abort();
    expect([await ends[1], aborted]).toEqual(["called off", ["0+1"]]);
    expect(clock.pendingTimers).toBe(0);
  });
});
