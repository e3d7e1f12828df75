/** The promise of fencing: after a bookie's answer to recovery no add that arrives is OK (rules 2, 3). */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import type { Bookie, SealedEntry } from "../../../lib/protocol/ports.ts";
import type { World } from "../world.ts";
import { FencesLater } from "./broken/wrong-bookies.ts";
import { threeOfFour } from "./three-of-four.ts";

/** What recovery asks of B1, which holds e0 and has been sent neither e1 nor e2. */
const requests: readonly (readonly [string, (b1: Bookie, w: World) => Promise<unknown>])[] = [
  ["a fence", (b1, w) => b1.fence(w.theLedger())],
  ["a recovery read of e0, which it has", (b1, w) => b1.recoveryRead(w.theLedger(), entryId(0))],
  ["a recovery read of e1, which it has not", (b1, w) => b1.recoveryRead(w.theLedger(), entryId(1))],
  ["a recovery read of e9, far behind the tail", (b1, w) => b1.recoveryRead(w.theLedger(), entryId(9))],
];

/** e0 to e2 as the writer sealed them. */
async function someEntries(w: World): Promise<SealedEntry[]> {
  const writer = await w.writer();
  for (const about of [1, 2]) w.faults.hold({ client: "W", target: "B1", port: "bookie", about });
  await writer.add("e0", "e1", "e2");
  const slots = [0, 1, 2].map((entry) => w.entryAt("B0", entry));
  return await Promise.all(slots);
}

/** What B1 says to each of these adds, sent twice: by the writer itself, and by a copy of the message. */
async function addsAtB1(w: World, entries: readonly SealedEntry[]): Promise<string[]> {
  const b1 = w.bookie("late", "B1");
  const said: string[] = [];
  for (const entry of [...entries, ...entries]) said.push((await b1.add(entry)).kind);
  return said;
}

test("unasked, B1 takes them all, also twice", async () => {
  const w = await threeOfFour();
  expect(await addsAtB1(w, await someEntries(w))).toEqual(Array(6).fill("ok"));
});

describe.each(requests)("%s (rules 2, 3)", (_, ask) => {
  test("once answered, each add is refused: new ones, the one in its slot, what B1 has already", async () => {
    const w = await threeOfFour();
    const entries = await someEntries(w);
    await ask(w.bookie("R", "B1"), w);
    expect(await addsAtB1(w, entries)).toEqual(Array(6).fill("fenced"));
  });

  test("the reply is lost: the promise holds all the same", async () => {
    const w = await threeOfFour();
    const entries = await someEntries(w);
    w.faults.fail({ client: "R", target: "B1", port: "bookie" }, "after");
    await expect(ask(w.bookie("R", "B1"), w)).rejects.toMatchObject({ code: "unavailable" });
    expect(await addsAtB1(w, entries)).toEqual(Array(6).fill("fenced"));
  });

  test("there is no answer before the fence is durable, and none if it cannot be put", async () => {
    const w = await threeOfFour();
    const entries = await someEntries(w);
    const put = w.faults.hold({ client: "R", target: "B1", call: "put", about: "fence" });
    let answered = false;
    const answer = ask(w.bookie("R", "B1"), w).finally(() => {
      answered = true;
    });
    await w.idle();
    expect(answered).toBe(false);
    expect(await addsAtB1(w, entries.slice(0, 1))).toEqual(["ok", "ok"]);
    put.lose();
    await expect(answer).rejects.toMatchObject({ code: "unavailable" });
  });

  test("answered before it is durable, adds still get in", async () => {
    const w = await threeOfFour({ bookie: (fields) => new FencesLater(fields) });
    const entries = await someEntries(w);
    w.faults.hold({ client: "R", target: "B1", call: "put", about: "fence" });
    await ask(w.bookie("R", "B1"), w);
    expect(await addsAtB1(w, entries)).toContain("ok");
  });

  test("an add that is under way when the answer comes is OK only if recovery can see it", async () => {
    const w = await threeOfFour();
    const [e0, e1] = await someEntries(w);
    const put = w.faults.hold({ client: "late", target: "B1", port: "store", call: "putIfAbsent", about: 1 });
    const add = w.bookie("late", "B1").add(e1 as SealedEntry);
    await w.idle();
    await ask(w.bookie("R", "B1"), w);
    put.release();
    const said = (await w.run(add)).kind;
    const seen = await w.bookie("R", "B1").recoveryRead(w.theLedger(), entryId(1));
    expect(["ok and entry", "fenced and tombstone"]).toContain(`${said} and ${seen.kind}`);
    expect((await w.bookie("late", "B1").add(e0 as SealedEntry)).kind).toBe("fenced");
  });
});
