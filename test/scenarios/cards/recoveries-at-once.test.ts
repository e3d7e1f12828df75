/** Cards H33, H45, H46: many recoveries, one end. */
import { describe, expect, test } from "vitest";
import { World } from "../world.ts";
import { endOf, failure, sealed, sendMany, slots, store, stored } from "./meddling.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

test("H33 (rules 4, 11): R2 writes back while R1 reads; the LAC in it moves nothing of R1's", async () => {
  const w = await World.make(three);
  const writer = await w.writer();
  await writer.add("e0", "e1");
  // e2 to e9 are on B0 only, each with the LAC that the writer knew: 1.
  for (const target of ["B1", "B2"]) w.faults.hold({ client: "W", target, call: "add" });
  void sendMany(writer, 2, 8);
  await w.idle();

  const slow = ["B1", "B2"].flatMap((target) =>
    ["R1", "R2"].map((client) => w.faults.hold({ client, target, call: "recoveryRead" })),
  );
  const behind = w.faults.hold({ client: "R1", target: "B0", call: "recoveryRead", about: 5 });
  const recoveries = [w.recovery("R1"), w.recovery("R2")];
  await w.clock.advance(100);
  expect(await slots(w, 4, "B1 B2")).toBe("recovered recovered"); // R2 is ahead of R1
  behind.release();
  await w.idle();
  for (const held of slow) held.release();
  const ends = await w.run(Promise.all(recoveries));
  expect(ends).toMatchObject([{ state: "CLOSED", lastEntry: 9 }, { lastEntry: 9 }]);
  // What was written back is what the writer sealed, its LAC field included.
  for (let entry = 2; entry < 10; entry++) {
    expect((await stored(w, "B1", entry)).header).toEqual((await stored(w, "B0", entry)).header);
    expect((await stored(w, "B1", entry)).header.lastAddConfirmed).toBe(1);
  }
});

describe("H45: ten recoveries while the writer writes", () => {
  test.each([0, 1, 2, 3, 4, 5])(
    "H45 (rules 10 to 12): started after %i ms: one end, at least W's LAC",
    async (lag) => {
      const w = await World.make(three);
      const writer = await w.writer();
      // Each bookie's answers to the writer come late, so adds are always under way.
      for (const [index, target] of three.bookies.entries()) {
        const slowness = () => new Promise<void>((go) => void w.clock.startTimer(1 + index, go));
        w.faults.at({ client: "W", target, call: "add" }, "before", Number.POSITIVE_INFINITY, slowness);
      }
      const outcomes: Promise<string>[] = [];
      for (let entry = 0; entry < 4 + lag; entry++) {
        outcomes.push(writer.send(`e${entry}`));
        await w.clock.advance(1);
      }
      const recoveries = Array.from({ length: 10 }, (_, client) => w.recovery(`R${client}`));
      for (let entry = 0; entry < 4; entry++) {
        outcomes.push(writer.send(`late ${entry}`));
        await w.clock.advance(1);
      }
      const ends = await w.run(Promise.all(recoveries));
      const last = endOf(ends[0]);
      for (const end of ends) expect(end).toMatchObject({ state: "CLOSED", lastEntry: last });
      const said = await w.run(Promise.all(outcomes));
      const acknowledged = said.filter((outcome) => outcome.startsWith("acknowledged")).length;
      expect(acknowledged).toBe(writer.writer.lastAddConfirmed + 1);
      expect(writer.writer.lastAddConfirmed).toBeLessThanOrEqual(last);
      expect(said.at(-1)).toMatch(/^fenced/);
      const reader = w.reader();
      for (let entry = 0; entry <= last; entry++) expect(await w.read(reader, entry)).not.toBe("beyond-end");
      expect(await w.read(reader, last + 1)).toBe("beyond-end");
    },
  );
});

describe("H46: a recovery dies half way", () => {
  test("H46 (rule 11): R1 wrote e1 to one more bookie and died; R2's end is everybody's", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
    const writer = await w.writer();
    await writer.add("e0");
    for (const target of ["B1", "B2"]) w.faults.hold({ client: "W", target, call: "add" });
    void writer.send("e1");
    await w.idle();
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "R1", target, call: "recoveryRead" });
    w.faults.hold({ client: "R1", target: "B2", call: "recoveryAdd" });
    void failure(w.recovery("R1"));
    await w.clock.advance(100);
    expect(await slots(w, 1, "B0 B1 B2")).toBe("original recovered nothing"); // R1 dies here

    // The Recovered copy counts for no reader: one Original is no ACK set.
    expect(await w.read(w.reader(), 1)).toBe("undecided");
    w.faults.fail({ client: "R2", target: "B0" });
    expect(await w.recover("R2")).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    expect(await w.read(w.reader("T2"), 1)).toBe("e1");
  });

  test.each(["B0", "B1", "B2"])(
    "H46 (rules 11, 13): e1's LAC showed e0 to a reader; R1 dies, %s is silent for R2: e0 stays",
    async (silent) => {
      const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] });
      const writer = await w.writer();
      w.faults.fail({ client: "W", target: "B2", call: "add" });
      await writer.add("e0"); // on B0 and B1
      await store(w, "B2", sealed(w, { entry: 1, lastAddConfirmed: 0, tenure: writer.writer.tenure }));
      const reader = w.reader();
      w.faults.hold({ client: "T", target: "B0", call: "tail" });
      expect(await w.run(reader.confirmedHint())).toBe(0); // B2 was heard: T1
      expect(await w.read(reader, 0)).toBe("e0");

      w.faults.hold({ client: "R1", call: "recoveryRead" });
      void failure(w.recovery("R1"));
      await w.idle();
      w.faults.fail({ client: "R2", target: silent });
      expect(endOf(await w.recover("R2"))).toBeGreaterThanOrEqual(0);
      expect(await w.read(reader, 0)).toBe("e0");
    },
  );
});
