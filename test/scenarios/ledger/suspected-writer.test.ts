/**
 * A live writer is taken for dead: others recover its ledger while it goes on adding. Whatever the order of
 * their calls, nothing is acknowledged behind the closed end (rules 1 to 5, 8, 10 to 13).
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StoredBookie, type StoredBookieFields } from "../../../lib/protocol/bookie/stored-bookie.ts";
import type { SealedEntry } from "../../../lib/protocol/ports.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import type { Match } from "../faults.ts";
import { brokenPromises } from "../promises.ts";
import { type Adder, World, type WorldFields } from "../world.ts";
import { ReadsPlainly } from "./broken/wrong-bookies.ts";
import { threeOfFour } from "./three-of-four.ts";

/** Enough on a machine that is busy with other things. */

/** Stops the `n`-th matching call, before or after its effect, until `goOn`. */
function stopAt(w: World, match: Match, n: number, moment: "before" | "after") {
  let calls = 0;
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  w.faults.at(match, moment, Number.POSITIVE_INFINITY, () => (calls++ === n ? gate : undefined));
  return { goOn: () => goOn(), reached: () => calls > n };
}

async function addSome(w: World, writer: Adder, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    void writer.send(`e${writer.writer.lastAddPushed + 1}`);
    await w.idle();
  }
}

describe.each(["before", "after"] as const)("one stands still %s a call, the other goes on", (moment) => {
  test(
    "recovery, at each of its calls: the writer adds until it is fenced, and all it was told is kept",
    EXHAUSTIVE,
    async () => {
      let n = 0;
      for (let reached = true; reached; n++) {
        const w = await threeOfFour();
        const writer = await w.writer();
        await addSome(w, writer, 2);
        const stop = stopAt(w, { client: "R" }, n, moment);
        const recovery = w.recovery();
        await addSome(w, writer, 3);
        stop.goOn();
        await w.idle();
        await addSome(w, writer, 1);
        expect(await w.run(recovery)).toMatchObject({ state: "CLOSED" });
        expect(writer.writer.stopped).toMatchObject({ code: "fenced", sideEffects: "possible" });
        expect(await brokenPromises(w)).toEqual([]);
        reached = stop.reached();
      }
      expect(n).toBeGreaterThan(50);
    },
  );

  test(
    "the writer, at each of its calls: recovery closes, and the writer is told of nothing behind the end",
    EXHAUSTIVE,
    async () => {
      let n = 0;
      for (let reached = true; reached; n++) {
        const w = await threeOfFour();
        const writer = await w.writer();
        const stop = stopAt(w, { client: "W" }, n, moment);
        await addSome(w, writer, 3);
        expect(await w.recover()).toMatchObject({ state: "CLOSED" });
        stop.goOn();
        await w.idle();
        await addSome(w, writer, 2);
        expect(writer.writer.stopped).toMatchObject({ code: "fenced" });
        expect(await brokenPromises(w)).toEqual([]);
        reached = stop.reached();
      }
      expect(n).toBeGreaterThan(30);
    },
  );
});

/** Notes each add that is OK although it arrived after this bookie's answer to recovery. */
function watched(Base: new (fields: StoredBookieFields) => StoredBookie) {
  const answered = new Set<string>();
  const broken: string[] = [];
  class Watched extends Base {
    override async fence(...asked: Parameters<StoredBookie["fence"]>) {
      const answer = await super.fence(...asked);
      answered.add(this.id);
      return answer;
    }

    override async recoveryRead(...asked: Parameters<StoredBookie["recoveryRead"]>) {
      const answer = await super.recoveryRead(...asked);
      answered.add(this.id);
      return answer;
    }

    override async add(entry: SealedEntry) {
      const promised = answered.has(this.id);
      const answer = await super.add(entry);
      if (promised && answer.kind === "ok") broken.push(`${this.id} took entry ${entry.header.entryId}`);
      return answer;
    }
  }
  return { broken, bookie: (fields: StoredBookieFields) => new Watched(fields) };
}

/** One writer, two recoveries and two readers at once; each call takes as long as `delaysMs` says. */
async function storm(
  delaysMs: readonly number[],
  setting: Omit<WorldFields, "bookie">,
  Base = StoredBookie,
): Promise<{ broken: string[]; acknowledged: number; ends: number }> {
  const { bookie, broken } = watched(Base);
  const w = await World.make({ ...setting, bookie });
  const writer = await w.writer();
  let calls = 0;
  let calm = false;
  const delay = () => (calm ? undefined : pause(w.clock, delaysMs[calls++ % delaysMs.length] ?? 0));
  for (const moment of ["before", "after"] as const) w.faults.at({}, moment, Number.POSITIVE_INFINITY, delay);

  const write = async () => {
    for (let sent = 0; sent < 16 && writer.writer.stopped === undefined; sent++) {
      void writer.send(`e${sent}`);
      await delay();
    }
  };
  const recover = async (client: string) => {
    for (let waits = 0; waits < 5; waits++) await delay();
    await w.recovery(client).catch(() => undefined);
  };
  const read = async (client: string) => {
    const reader = w.reader(client);
    for (let entry = 0, reads = 0; entry < 16 && reads < 20; reads++) {
      const said = await w.reading(reader, entry).catch(() => "error");
      if (said.startsWith("e") && said !== "error") entry += 1;
    }
  };
  await w.run(Promise.all([write(), recover("R0"), recover("R1"), read("T"), read("U")]));
  calm = true;
  await w.recover("R2");
  await w.clock.advance(10_000);
  return {
    broken: [...broken, ...(await brokenPromises(w))],
    acknowledged: w.acknowledged.length,
    ends: w.ends.length,
  };
}

/** Mostly as quick as a network, now and then longer than anybody waits. */
const delays = fc.array(
  fc.oneof({ weight: 20, arbitrary: fc.nat(60) }, { weight: 1, arbitrary: fc.constant(4_000) }),
  { minLength: 151, maxLength: 151 },
);

const runs = { seed: 20_260_729, numRuns: 15, endOnFailure: true };

describe("all at once, calls as slow as chance has it", () => {
  const bookies = ["B0", "B1", "B2", "B3", "B4"];
  const inRegions = ["B0@a", "B1@b", "B2@a", "B3@b", "B4@b", "B5@a"];
  const settings: readonly (readonly [string, Omit<WorldFields, "bookie">])[] = [
    ["E3 Qw3 Qa2", { bookies, quorums: [3, 3, 2] }],
    ["E3 Qw2 Qa2", { bookies, quorums: [3, 2, 2] }],
    ["E4 Qw4 Qa3", { bookies, quorums: [4, 4, 3] }],
    ["E4 Qw4 Qa2 in two regions", { bookies: inRegions, quorums: [4, 4, 2], minRegions: 2 }],
  ];

  test.each(settings)("%s: no promise is broken (rules 1 to 14)", EXHAUSTIVE, async (_, setting) => {
    let acknowledged = 0;
    const property = fc.asyncProperty(delays, async (delaysMs) => {
      const outcome = await storm(delaysMs, setting);
      acknowledged += outcome.acknowledged;
      expect(outcome.broken).toEqual([]);
      expect(outcome.ends).toBeGreaterThan(0);
    });
    await fc.assert(property, runs);
    expect(acknowledged).toBeGreaterThan(runs.numRuns);
  });

  test("with recovery reads that only read, one is", EXHAUSTIVE, async () => {
    const broken: string[] = [];
    // The fences of the other recovery requests stop most of what these reads let through.
    for (const delaysMs of fc.sample(delays, { ...runs, numRuns: 400 })) {
      broken.push(...(await storm(delaysMs, { bookies, quorums: [3, 3, 2] }, ReadsPlainly)).broken);
      if (broken.length > 0) break;
    }
    expect(broken).not.toEqual([]);
  });
});
