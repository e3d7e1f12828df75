/** What every recovery must keep, and what it may decide as long as all agree (rules 3, 11, 12). */
import { describe, expect, test } from "vitest";
import { brokenPromises } from "../promises.ts";
import { World } from "../world.ts";
import { threeOfFour } from "./three-of-four.ts";

/** R's recovery reads of e0 are answered in this order, and by nobody else. */
async function answersInOrder(w: World, order: readonly string[]) {
  const read = { client: "R", port: "bookie", call: "recoveryRead", about: 0 } as const;
  const held = w.addresses.map(({ id }) => ({ id, answer: w.faults.hold({ ...read, target: id }) }));
  const recovery = w.recovery();
  await w.idle();
  for (const name of order) {
    held.find(({ id }) => id === name)?.answer.release();
    await w.idle();
  }
  return await w.run(recovery);
}

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item) =>
        permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
      );

describe("an acknowledged entry survives any recovery with one silent bookie (rules 3, 11)", () => {
  const settings = [
    { quorums: [3, 3, 2], members: ["B0", "B1", "B2"] },
    { quorums: [4, 4, 3], members: ["B0", "B1", "B2", "B3"] },
  ] as const;
  const cases = settings.flatMap(({ quorums, members }) =>
    members.flatMap((without) =>
      members.flatMap((silent) =>
        permutations(members.filter((name) => name !== silent)).map((order) => ({
          name: quorums.join("/"),
          quorums,
          without,
          silent,
          order,
          said: order.join(", "),
        })),
      ),
    ),
  );

  test.each(cases)("$name, on all but $without; $silent is silent, then $said", async (setting) => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: setting.quorums });
    const writer = await w.writer();
    w.cut("W", setting.without);
    expect(await writer.add("e0")).toBe("acknowledged 0");
    w.cut("R", setting.silent);
    expect(await answersInOrder(w, setting.order)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.read(w.reader(), 0)).toBe("e0");
    expect(await brokenPromises(w)).toEqual([]);
  });
});

test("a copy and negatives are both at hand: either end is right, and all agree (rule 11)", async () => {
  const ends = new Set<number>();
  for (const order of permutations(["B0", "B1", "B2"])) {
    const w = await threeOfFour();
    const writer = await w.writer();
    w.cut("W", "B1", "B2");
    void writer.send("e0");
    await w.idle();
    const closed = await answersInOrder(w, order);
    if (closed?.state !== "CLOSED") throw new Error(`not closed after ${order}`);
    ends.add(closed.lastEntry);
    expect(await w.recover("R2")).toMatchObject({ state: "CLOSED", lastEntry: closed.lastEntry });
    expect(await w.read(w.reader(), 0)).toBe(closed.lastEntry === 0 ? "e0" : "beyond-end");
    expect(await brokenPromises(w)).toEqual([]);
  }
  expect([...ends].sort()).toEqual([-1, 0]);
});
