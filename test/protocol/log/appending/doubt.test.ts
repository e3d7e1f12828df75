/** Appends in doubt: recovery says what became of them, and nothing is sent twice that may be recorded. */
import { describe, expect, test } from "vitest";
import type { FencelineError } from "../../../../lib/protocol/errors.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import { EXHAUSTIVE } from "../../../cpu-bound.ts";
import { LogWorld, told } from "../../../scenarios/log/log-world.ts";

describe("a fenced writer", () => {
  test("acknowledges what recovery found, and appends in their order what it did not find", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a");
    const onlyB0 = ["B1", "B2"].map((target) =>
      w.faults.hold({ client: "P", port: "bookie", call: "add", target, about: 2 }),
    );
    const replies = w.faults.hold({ client: "P", port: "bookie", call: "add", about: 1 }, "after");
    const never = w.faults.hold({ client: "P", port: "bookie", call: "add", about: 3 });
    const flying = [p.sending("stored", "on one bookie", "nowhere"), p.sending("also nowhere")];
    await w.idle();
    const silent = w.faults.fail({ client: "Q", port: "bookie", target: "B0" });
    expect(await w.client("Q", "west").append("q")).toEqual(["at 2"]);
    silent();
    const decision = w.faults.hold({ client: "P", port: "metadata", call: "get" }, "before", 1);
    for (const held of [...onlyB0, replies, never]) held.release();
    await w.idle();
    const late = p.sending("came while it was decided");
    decision.release();
    expect((await w.run(Promise.all([...flying, late]))).flat()).toEqual([
      "at 1",
      "at 3",
      "at 4",
      "at 5",
      "at 6",
    ]);
    const log = ["a", "stored", "q", "on one bookie", "nowhere", "also nowhere", "came while it was decided"];
    expect(await w.client("T", "north").read(0)).toEqual(log);
  });

  test("names the regions that hold a batch which recovery found", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a");
    w.faults.fail({ client: "P", port: "bookie", call: "add", target: "B0" });
    const replies = w.faults.hold({ client: "P", port: "bookie", call: "add" }, "after");
    const inDoubt = p.sendingBatch(["b"]);
    await w.idle();
    await w.client("Q", "west").append("q");
    replies.lose();
    const ack = await w.run(inDoubt);
    expect(ack.start.seqNum).toBe(1);
    expect(ack.durableIn?.length).toBeGreaterThanOrEqual(2);
    expect(["east", "west", "north"]).toEqual(expect.arrayContaining([...(ack.durableIn ?? [])]));
  });
});

describe("too few bookies", () => {
  /** P has a warm writer; from here on two of three regions are gone for it. */
  async function twoRegionsDown(w: LogWorld) {
    const p = w.client("P");
    expect(await p.append("a")).toEqual(["at 0"]);
    const up = ["B1", "B2"].map((target) => w.faults.fail({ port: "bookie", target }));
    return { p, up: () => up.forEach((end) => void end()) };
  }

  test("in doubt is unknown_outcome and names who answered; then it goes on", async () => {
    const w = await LogWorld.make({ bookies: ["B0@east", "B1@west", "B2@north"] });
    const { p, up } = await twoRegionsDown(w);
    const error: FencelineError = await w.run(p.sendingBatch(["b"]).catch((reason) => reason));
    expect([error.code, error.retryable, error.sideEffects]).toEqual(["unknown_outcome", false, "possible"]);
    expect(error.details).toEqual({
      start_seq_num: 1,
      answered_regions: ["east"],
      silent_regions: ["north", "west"],
    });
    expect(await p.append("c")).toEqual(["insufficient_regions, side effects none"]);
    up();
    expect(await p.append("d")).toEqual([expect.stringMatching(/^at [12]$/)]);
    const log = await w.client("T", "north").read(0);
    expect(log.filter((text) => text !== "b")).toEqual(["a", "d"]);
  });

  test("out of time in doubt is unknown_outcome, and the append is never sent again", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a");
    const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const change = w.faults.hold({ client: "P", port: "metadata", call: "write" });
    const started = w.world.clock.nowMs();
    const outcome = told(p.sendingBatch(["b"]));
    expect(await w.run(outcome)).toBe("unknown_outcome, side effects possible");
    expect(w.world.clock.nowMs() - started).toBeLessThanOrEqual(limits.appendDeadlineMs);
    expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
    stuck.release();
    change.release(); // P finds out that "b" is not recorded, and that its caller has gone
    expect(await p.append("c")).toEqual(["at 2"]);
    await w.world.clock.advance(60_000);
    expect(await w.client("T", "north").read(0)).toEqual(["a", "q", "c"]);
  });
});

test("two regions that append at the same time fence each other, and both come to an end", async () => {
  const w = await LogWorld.make();
  const texts = (name: string) => Array.from({ length: 12 }, (_, index) => `${name}${index}`);
  const [p, q] = [w.client("P"), w.client("Q", "west")];
  const outcomes = await w.run(Promise.all([p.sending(...texts("p")), q.sending(...texts("q"))]));
  expect(outcomes.flat().filter((outcome) => !outcome.startsWith("at "))).toEqual([]);
  const log = await w.client("T", "north").read(0);
  expect(log.filter((text) => text.startsWith("p"))).toEqual(texts("p"));
  expect(log.filter((text) => text.startsWith("q"))).toEqual(texts("q"));
  expect(log).toHaveLength(24);
});

describe.each(["before", "after"] as const)("a call of a takeover fails %s its effect", (moment) => {
  test(
    "whichever call it is: acknowledged is recorded, refused is not, in doubt at most once",
    EXHAUSTIVE,
    async () => {
      let calls = 40;
      for (let failing = 0; failing < calls; failing++) {
        const w = await LogWorld.make();
        await w.client("P").append("a");
        const q = w.client("Q", "west");
        let count = 0;
        w.faults.at({ client: "Q" }, moment, Number.POSITIVE_INFINITY, () => {
          if (count++ === failing) throw new Error("lost");
        });
        const [outcome = ""] = await w.run(q.sending("b"));
        calls = Math.max(calls, count);
        const log = await w.client("T", "north").read(0);
        const found = log.filter((text) => text === "b").length;
        const expected = outcome === "at 1" ? [1] : outcome.endsWith("none") ? [0] : [0, 1];
        expect(expected, `call ${failing}: ${outcome}, and the log is ${log}`).toContain(found);
        expect(log[0]).toBe("a");
        expect(await w.client("R").append("c")).toEqual([`at ${log.length}`]);
      }
      expect(calls).toBeLessThan(400);
    },
  );
});
