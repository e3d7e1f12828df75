/** The figure of the fencing text: a reader recovers a ledger under its live writer. */
import { expect, test } from "vitest";
import { World } from "./world.ts";

test("E3 Qw2 Qa2: entry 12 reached one bookie; recovery finds it, writes it back, closes at 12 (rules 10-12)", async () => {
  const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums: [3, 2, 2] });
  const writer = await w.writer();
  for (let entry = 0; entry <= 11; entry++) await writer.add(`entry ${entry}`);
  const stuck = w.faults.hold({ client: "W", target: "B1", call: "add", about: 12 });
  const twelve = writer.send("entry 12");
  await w.idle();
  expect([await w.slot("B0", 12), await w.slot("B1", 12)]).toEqual(["original", "nothing"]);

  const closed = await w.recover();
  expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 12 });
  expect(await w.slot("B1", 12)).toBe("recovered");
  const thirteen = writer.send("entry 13");
  stuck.release();
  expect(await w.run(twelve)).toBe("fenced, side effects possible");
  expect(await w.run(thirteen)).toMatch(/^fenced/);
  const reader = w.reader();
  expect(await w.read(reader, 12)).toBe("entry 12");
  expect(await w.read(reader, 13)).toBe("beyond-end");
});
