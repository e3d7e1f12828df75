/** Rule 5: acks of too few regions acknowledge nothing, and the trace reports each entry that waits for them. */
import { expect, test } from "vitest";
import type { TraceEvent } from "../../../lib/protocol/trace-events.ts";
import { acknowledged, sendMany } from "../../scenarios/cards/meddling.ts";
import { World, type WorldFields } from "../../scenarios/world.ts";

const waits = (w: World): Extract<TraceEvent, { event: "ack-waits-for-regions" }>[] =>
  w.trace.flatMap((event) => (event.event === "ack-waits-for-regions" ? [event] : []));

/** A writer whose adds to these bookies are silent until released. */
async function withSilent(fields: WorldFields, ...targets: string[]) {
  const w = await World.make(fields);
  const writer = await w.writer();
  const held = targets.map((target) => w.faults.hold({ client: "W", target, call: "add" }));
  return { w, writer, release: () => held.forEach((one) => void one.release()) };
}

test("an ensemble that placement would refuse: the check binds, and says so once for each entry", async () => {
  // Three bookies of region a and one of b at Qa 3: the checker's case AAAB with 4/4/3 m2.
  const bookies = ["A0@a", "A1@a", "A2@a", "B0@b"];
  const { w, writer, release } = await withSilent({ bookies, quorums: [4, 4, 3], minRegions: 2 }, "B0");
  const adds = sendMany(writer, 0, 3);
  await w.idle();
  expect(acknowledged(w)).toEqual([]);
  expect(waits(w).map(({ entryId, regions, count }) => ({ entryId, regions, count }))).toEqual([
    { entryId: 0, regions: ["a"], count: 1 },
    { entryId: 1, regions: ["a"], count: 2 },
    { entryId: 2, regions: ["a"], count: 3 },
  ]);
  release();
  expect(await w.run(Promise.all(adds))).toEqual([0, 1, 2].map((entry) => `acknowledged ${entry}`));
  expect(waits(w)).toHaveLength(3);
});

test("a legal ensemble: enough acks are enough regions, whoever is silent", async () => {
  const bookies = ["A0@a", "A1@a", "B0@b", "C0@c"];
  for (const silent of bookies.map((name) => name.slice(0, 2))) {
    const { w, writer, release } = await withSilent({ bookies, quorums: [4, 4, 3], minRegions: 2 }, silent);
    expect(await writer.add("e0", "e1")).toBe("acknowledged 1");
    release();
    await w.idle();
    expect(waits(w)).toEqual([]);
  }
});

test("fewer acks than an ack quorum wait for bookies, not for regions; nor does minRegions 1 wait", async () => {
  const bookies = ["A0@a", "A1@a", "A2@a", "B0@b"];
  const few = await withSilent({ bookies, quorums: [4, 4, 3], minRegions: 2 }, "A2", "B0");
  void few.writer.send("e0");
  await few.w.idle();
  expect(waits(few.w)).toEqual([]);
  const one = await withSilent({ bookies, quorums: [4, 4, 3], minRegions: 1 }, "B0");
  expect(await one.writer.add("e0")).toBe("acknowledged 0");
  expect(waits(one.w)).toEqual([]);
});
