/** Cards H27 to H35: what recovery concludes from the answers to its reads, in whatever order they come. */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { recoveryRead } from "../../../lib/protocol/ledger/recover-ledger.ts";
import { startRecovery } from "../../../lib/protocol/ledger-metadata.ts";
import { textOf, World } from "../world.ts";
import { permutations } from "./every-order.ts";
import { damaged, failure, isSettled, sealed, sendMany, slots, store, stored } from "./meddling.ts";
import { ScriptedBookies } from "./scripted-bookies.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

test("H27 (rule 11): 3/3/2, two negatives end the ledger while B2 hangs; no time passes", async () => {
  const w = await World.make(three);
  await (await w.writer()).add("e0", "e1");
  w.faults.hold({ client: "R", target: "B2" });
  const before = w.clock.nowMs();
  const recovery = w.recovery();
  expect(await isSettled(w, recovery)).toBe(true);
  expect(await recovery).toMatchObject({ state: "CLOSED", lastEntry: 1 });
  expect(w.clock.nowMs()).toBe(before);
});

describe("H29: mixed answers", () => {
  const words = ["negative", "unknown", "damaged", "genuine"] as const;
  type Word = (typeof words)[number];
  const mixtures = words.flatMap((a) => words.flatMap((b) => words.map((c): Word[] => [a, b, c])));

  async function decide(answers: readonly Word[], order: readonly number[]): Promise<string> {
    const w = await World.make(three);
    await w.writer();
    const ledger = await w.ledger();
    if (ledger.state !== "OPEN") throw new Error("not open");
    const scripted = new ScriptedBookies(w);
    const copy = sealed(w, { entry: 0 });
    const answerOf = {
      negative: { kind: "tombstone" },
      unknown: "unknown",
      damaged: { kind: "entry", copy: "original", entry: damaged(copy) },
      genuine: { kind: "entry", copy: "original", entry: copy },
    } as const;
    const decision = recoveryRead(scripted.ports(), startRecovery(ledger), entryId(0));
    for (const index of order) await scripted.answer(`B${index}`, answerOf[answers[index] ?? "unknown"]);
    return (await decision).kind;
  }

  test("H29 (rule 11): every mixture of three answers in every order: NEG decides", async () => {
    const orders = permutations([0, 1, 2]);
    let both = 0;
    for (const answers of mixtures) {
      const negatives = answers.filter((one) => one === "negative").length;
      const genuine = answers.filter((one) => one === "genuine").length;
      const decisions = new Set<string>();
      for (const order of orders) decisions.add(await decide(answers, order));
      const what = answers.join(", ");
      if (genuine > 0 && negatives >= 2) {
        expect([...decisions].sort(), what).toEqual(["absent", "found"]); // H31: either is right
        both += 1;
      } else {
        const right = genuine > 0 ? "found" : negatives >= 2 ? "absent" : "undecided";
        expect([...decisions], what).toEqual([right]);
      }
    }
    expect([mixtures.length, both]).toEqual([64, 3]);
  }, 30_000);

  test.each(permutations(["negative", "time-out", "i/o error"]))(
    "H29 (rule 11): B0 %s, B1 %s, B2 %s: the whole recovery gives up and stays IN_RECOVERY",
    async (...answers) => {
      const w = await World.make(three);
      await w.writer();
      answers.forEach((answer, index) => {
        const match = { client: "R", target: `B${index}`, call: "recoveryRead" };
        if (answer === "time-out") w.faults.hold(match);
        if (answer === "i/o error") w.faults.fail(match);
      });
      expect(await failure(w.recover())).toBe("insufficient_regions");
      expect((await w.ledger()).state).toBe("IN_RECOVERY");
    },
  );
});

describe("H30: a gap in the tail", () => {
  test.each([
    11, // in the window that recovery reads at once
    14, // behind it
  ])(
    "H30 (rule 11): 1/1/1, e0 to e9 and e%i: closed at 9, nothing behind the gap is kept",
    async (beyond) => {
      const w = await World.make({ bookies: ["B0"], quorums: [1, 1, 1] });
      const writer = await w.writer();
      for (let entry = 0; entry < 10; entry++) await writer.add(`e${entry}`);
      expect((await stored(w, "B0", 9)).header.lastAddConfirmed).toBe(8);
      await store(w, "B0", sealed(w, { entry: beyond, lastAddConfirmed: 8, tenure: writer.writer.tenure }));

      expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 9, length: 20 });
      expect(w.trace.filter((event) => event.event === "ledger-closed").length).toBe(1);
      expect(w.faults.count({ port: "bookie", call: "recoveryAdd", about: beyond })).toBe(0);
      const reader = w.reader();
      expect(await w.read(reader, beyond)).toBe("beyond-end");
      expect(await w.read(reader, 9)).toBe("e9");
    },
  );
});

describe("H31: a copy and NEG negatives both at hand", () => {
  async function unacknowledgedOnB2(): Promise<World> {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2", "e3", "e4", "e5", "e6");
    for (const target of ["B0", "B1"]) w.faults.hold({ client: "W", target, call: "add", about: 7 });
    void writer.send("e7");
    await w.idle();
    return w;
  }

  test.each([
    ["B0 and B1 first: the end is e6", "B2", 6],
    ["B2 first: e7 is kept", "B0 B1", 7],
  ])("H31 (rule 11): %s, and every later client says the same", async (_, slow, end) => {
    const w = await unacknowledgedOnB2();
    const held = slow
      .split(" ")
      .map((target) => w.faults.hold({ client: "R", target, call: "recoveryRead" }, "before"));
    const recovery = w.recovery();
    await w.idle();
    for (const one of held) one.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: end });
    expect(await w.recover("R2")).toMatchObject({ lastEntry: end });
    expect(await w.read(w.reader(), 7)).toBe(end === 7 ? "e7" : "beyond-end");
  });

  test.each([
    ["R1 closes first", "R2", 6],
    ["R2 closes first", "R1", 7],
  ])("H31 (rules 11, 12): two recoverers with opposite views, %s: one end", async (_, slow, end) => {
    const w = await unacknowledgedOnB2();
    const held = [
      w.faults.hold({ client: "R1", target: "B2", call: "recoveryRead", about: 7 }),
      ...["B0", "B1"].map((target) =>
        w.faults.hold({ client: "R2", target, call: "recoveryRead", about: 7 }),
      ),
    ];
    const enters = w.faults.hold({ client: "R1", port: "metadata", call: "write" }, "after", 1);
    const writeBack = w.faults.hold({ client: "R2", call: "recoveryAdd" });
    const recoveries = [w.recovery("R1"), w.recovery("R2")];
    await w.idle(); // R2 has found e7 and is about to write it back
    const closing = w.faults.hold({ client: slow, port: "metadata", call: "write" });
    enters.release();
    await w.idle(); // R1 has two negatives
    writeBack.release();
    await w.idle();
    expect(await w.ledger()).toMatchObject({ state: "CLOSED", lastEntry: end }); // the other one's end
    closing.release();
    for (const one of held) one.release();
    expect(await w.run(Promise.all(recoveries))).toMatchObject([{ lastEntry: end }, { lastEntry: end }]);
    expect(await w.read(w.reader(), 7)).toBe(end === 7 ? "e7" : "beyond-end");
  });
});

test("H34 (rule 11): e1 is damaged on B0 and B1, absent on B2: no end below it", async () => {
  const w = await World.make(three);
  await (await w.writer()).add("e0");
  for (const name of ["B0", "B1"])
    await store(w, name, damaged(sealed(w, { entry: 1, lastAddConfirmed: 0 })));
  const error = await w.recover().catch((reason) => reason);
  expect(error).toMatchObject({ code: "insufficient_regions", retryable: true });
  expect(error.message).toMatch(/entry 1 was neither found nor ruled out/);
  for (const name of ["B0", "B1"]) expect(error.message).toContain(`${name} has a damaged copy`);
  expect((await w.ledger()).state).toBe("IN_RECOVERY");
  // A good copy turns up (a repair, or B0 back with what it was given): then it counts.
  await store(w, "B0", sealed(w, { entry: 1, lastAddConfirmed: 0 }));
  await w.addBookie("B3");
  expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
});

describe("H35: answers of one window out of order", () => {
  test("H35 (rule 11): e6 needs its second replica, e7 comes first; all are kept", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2", "e3", "e4");
    for (const name of three.bookies) w.faults.hold({ client: "W", target: name, call: "add" }, "after");
    void sendMany(writer, 5, 3);
    await w.idle();
    expect(await slots(w, 7, "B0 B1 B2")).toBe("original original original");

    w.faults.fail({ client: "R", target: "B0", call: "recoveryRead", about: 6 });
    const second = ["B1", "B2"].map((target) =>
      w.faults.hold({ client: "R", target, call: "recoveryRead", about: 6 }),
    );
    const recovery = w.recovery();
    await w.idle();
    expect(w.faults.count({ client: "R", call: "recoveryAdd" })).toBe(0); // decided in order, so nothing yet
    second[0]?.release();
    const closed = await w.run(recovery);
    expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 7 });
    expect(
      w.faults.count({ port: "bookie", client: "R", target: "B1", call: "recoveryRead", about: 7 }),
    ).toBe(1);
    const reader = w.reader();
    for (const entry of [5, 6, 7]) expect(await w.read(reader, entry)).toBe(`e${entry}`);
    expect(textOf(await stored(w, "B2", 7))).toBe("e7");
  });

  test("H35 (rule 11): e6 stays undecided: e5 is written back, e7 is not, no close", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1", "e2", "e3", "e4");
    for (const name of three.bookies) w.faults.hold({ client: "W", target: name, call: "add" }, "after");
    void sendMany(writer, 5, 3);
    await w.idle();
    w.faults.fail({ client: "R", call: "recoveryRead", about: 6 });
    expect(await failure(w.recover())).toBe("insufficient_regions");
    expect(w.faults.count({ port: "bookie", client: "R", call: "recoveryAdd", about: 5 })).toBe(3);
    expect(w.faults.count({ port: "bookie", client: "R", call: "recoveryAdd", about: 7 })).toBe(0);
    expect((await w.ledger()).state).toBe("IN_RECOVERY");
  });
});
