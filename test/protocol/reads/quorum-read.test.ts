/** Reads for which one answer is not enough: as many requests as could prove something, and no fewer. */
import { describe, expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import type { Part } from "../../../lib/protocol/reads/speculative-read.ts";
import { quorumRead } from "../../../lib/protocol/reads/speculative-read.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { type Behaviour, bookieAt, inMs, nameOf, ReadingWorld, type Says, silent } from "./reading-world.ts";

const near = bookieAt("near", "/r1/a");
const other = bookieAt("other", "/r1/b");
const far = bookieAt("far", "/r2/a");
const set = [far, other, near];

/** A read that needs two equal words. */
function twoAlike(reading: ReadingWorld, behaviours: ReadonlyMap<BookieAddress, Behaviour>) {
  const asked: string[] = [];
  const alike = (parts: readonly Part<Says>[], says: Says) => parts.filter(({ value }) => value === says);
  const answer = quorumRead<Says, Says, Says>(reading.policy, {
    writeSet: set,
    call: (bookie) => {
      asked.push(`${nameOf(bookie)} ${reading.scheduler.nowMs}`);
      const behaviour = behaviours.get(bookie) ?? inMs(10);
      return new Promise((resolve, reject) => {
        if (behaviour === "silent") return;
        reading.scheduler.after(behaviour.afterMs, () => {
          if (behaviour.says === "error") reject(new Error("refused"));
          else resolve(behaviour.says);
        });
      });
    },
    judge: (says) => ({ usable: true, value: says }),
    conclude: (parts) => parts.find(({ value }) => alike(parts, value).length >= 2),
    couldConclude: (parts, open) => {
      const most = Math.max(0, ...parts.map(({ value }) => alike(parts, value).length));
      return most + open.length >= 2;
    },
  });
  return { asked, answer: reading.settle(answer) };
}

const inRackA = () => new ReadingWorld({ region: region("r1"), rack: "a" });

describe("a read that needs two", () => {
  test("asks the two nearest, and no third", async () => {
    const reading = inRackA();
    const { asked, answer } = twoAlike(reading, new Map());
    expect(await answer).toMatchObject({ kind: "answer", value: "entry", facts: { attempts: 2 } });
    expect(asked).toEqual(["near 0", "other 0"]);
    expect(reading.clock.pendingTimers).toBe(0);
  });

  test("asks the third when the two disagree", async () => {
    const { asked, answer } = twoAlike(inRackA(), new Map([[other, inMs(4, "nothing")]]));
    expect(await answer).toMatchObject({ kind: "answer", value: "entry", facts: { failovers: 1 } });
    expect(asked).toEqual(["near 0", "other 0", "far 10"]);
  });

  test("asks the third at once when one fails, and after silence", async () => {
    const failing = twoAlike(inRackA(), new Map([[near, inMs(3, "error")]]));
    expect(await failing.answer).toMatchObject({ kind: "answer" });
    expect(failing.asked).toEqual(["near 0", "other 0", "far 3"]);
    const hanging = twoAlike(inRackA(), new Map([[near, silent]]));
    expect(await hanging.answer).toMatchObject({ kind: "answer", facts: { failovers: 1 } });
    expect(hanging.asked).toEqual(["near 0", "other 0", "far 500"]);
  });

  test("tells what it heard when nothing is proven, after everyone had a say", async () => {
    const behaviours = new Map([
      [near, inMs(3, "error")],
      [other, inMs(4, "nothing")],
    ]);
    const found = await twoAlike(inRackA(), behaviours).answer;
    expect(found).toMatchObject({
      kind: "none",
      verdicts: [{ bookie: near.id, kind: "unknown", reason: "refused" }],
      parts: [{ value: "nothing" }, { value: "entry" }],
    });
  });
});
