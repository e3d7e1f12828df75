/** Tests of the simulator: it is deterministic, it is out of reach of the real world, and it can fail. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { CPU_BOUND, EXHAUSTIVE } from "../cpu-bound.ts";
import { allMutants, everyVersion } from "./mutants/all-mutants.ts";
import { bundleMutant } from "./mutants/bundle-mutant.ts";
import { checkMutants, mutantsThatDoNotApply } from "./mutants/check-mutants.ts";
import { testedMutants, uncaughtMutants } from "./mutants/tested-mutants.ts";
import { drawPlan, profileNames } from "./profiles/all-profiles.ts";
import { reduced, smallest, WHOLE } from "./reduction.ts";
import { runPlan } from "./run-plan.ts";
import { Scheduler } from "./scheduler.ts";
import { SeededRandom } from "./seeded-random.ts";
import { reproduction } from "./story.ts";
import { Tripwire } from "./tripwire.ts";

describe("one seed, one run", CPU_BOUND, () => {
  const sameTwice = async (profile: string) => {
    const runs = [];
    for (let run = 0; run < 2; run++) runs.push(await runPlan(drawPlan(profile, 7), { trace: true }));
    const [one, other] = runs;
    expect(one?.lines.length).toBeGreaterThan(50);
    expect(other?.lines.join("\n")).toBe(one?.lines.join("\n"));
    expect(other?.counts).toEqual(one?.counts);
  };
  const sample = ["combined", "lives", "storm"];
  test.each(sample)("two runs of a seed of %s are the same byte for byte", sameTwice);
  test.each(profileNames.filter((profile) => !sample.includes(profile)))(
    "two runs of a seed of %s are the same byte for byte",
    EXHAUSTIVE,
    sameTwice,
  );

  test("the sample is of profiles that there are", () => {
    expect(profileNames).toEqual(expect.arrayContaining(sample));
  });

  test("another seed is another run", async () => {
    const [one, other] = [await traceOf(7), await traceOf(8)];
    expect(one).not.toBe(other);
  });

  test("a trace that is not kept changes nothing", async () => {
    const kept = await runPlan(drawPlan("combined", 7), { trace: true });
    const { counts } = await runPlan(drawPlan("combined", 7));
    expect(counts).toEqual(kept.counts);
  });
});

const traceOf = async (seed: number) =>
  (await runPlan(drawPlan("combined", seed), { trace: true })).lines.join("\n");

describe("virtual time", () => {
  test("moves only when every reaction to an event has run", async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    const react = async (name: string) => {
      for (let turn = 0; turn < 100; turn++) await undefined;
      seen.push(`${name} at ${scheduler.nowMs}`);
    };
    scheduler.at(5, () => void react("later"));
    scheduler.at(1, () => void react("first"));
    scheduler.at(5, () => void react("last"));
    await scheduler.run(() => false);
    expect(seen).toEqual(["first at 1", "later at 5", "last at 5"]);
  });

  test("a run that throws in an event is rejected with that error", async () => {
    const scheduler = new Scheduler();
    scheduler.at(1, () => {
      throw new Error("in an event");
    });
    await expect(scheduler.run(() => false)).rejects.toThrow("in an event");
  });
});

describe("the real world", () => {
  const touches: Readonly<Record<string, () => unknown>> = {
    "Date.now": () => Date.now(),
    "new Date()": () => new Date(),
    "Math.random": () => Math.random(),
    "performance.now": () => performance.now(),
    "process.hrtime": () => process.hrtime(),
    "process.hrtime.bigint": () => process.hrtime.bigint(),
    "AbortSignal.timeout": () => AbortSignal.timeout(1),
    "crypto.randomUUID": () => crypto.randomUUID(),
    setTimeout: () => setTimeout(() => undefined, 0),
    setImmediate: () => setImmediate(() => undefined),
    setInterval: () => clearInterval(setInterval(() => undefined, 1_000)),
    "Date()": () => Date(),
    "crypto.getRandomValues": () => crypto.getRandomValues(new Uint8Array(1)),
  };

  test.each(Object.entries(touches))(
    "%s throws while simulated code runs, and works again after",
    (_, touch) => {
      const tripwire = new Tripwire();
      tripwire.raise();
      let failure: unknown;
      try {
        touch();
      } catch (error) {
        failure = error;
      } finally {
        tripwire.lower();
      }
      expect(String(failure)).toContain("use the Clock or Random port");
      expect(() => touch()).not.toThrow();
    },
  );

  test("the tripwire is up in events and their reactions", async () => {
    const scheduler = new Scheduler();
    const caught: string[] = [];
    scheduler.at(1, () => {
      void (async () => {
        await undefined;
        try {
          Math.random();
        } catch (error) {
          caught.push(String(error));
        }
      })();
    });
    await scheduler.run(() => false, new Tripwire());
    expect(caught).toHaveLength(1);
  });
});

test("streams of one seed differ, and each repeats itself", () => {
  const draw = (seed: number, stream: string) => {
    const random = new SeededRandom(seed, stream);
    return Array.from({ length: 4 }, () => random.uint32()).join(" ");
  };
  expect(draw(1, "one")).toBe(draw(1, "one"));
  expect(new Set([draw(1, "one"), draw(1, "two"), draw(2, "one"), draw(2 ** 32 + 1, "one")]).size).toBe(4);
});

/** `%s` and `$name` of a title that stands for many take any text. */
function isTitleOf(written: string, title: string): boolean {
  const parts = written.split(/%[a-z]|\$\w+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return parts.join("") !== "" && new RegExp(`^${parts.join(".*")}$`).test(title);
}

describe("mutants", CPU_BOUND, () => {
  test("what each one changes is there, once", () => {
    expect(mutantsThatDoNotApply(everyVersion)).toEqual([]);
  });

  test("one that does not compile is refused by its name, with the compiler's words", async () => {
    const inWriteSet = (name: string, to: string) => ({
      name,
      breaks: "nothing",
      patches: [{ in: "writeSet", from: "writeSetPositions(entry, replication)", to }],
    });
    const mutants = [
      inWriteSet("leaves-a-parameter-unused", "[0]"),
      inWriteSet("a-position-is-a-text", `["0"]`),
      inWriteSet("needs-what-is-not-there", "positionsOfNothing()"),
    ];
    const lines: string[] = [];
    expect(await checkMutants((line) => lines.push(line), mutants)).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(/^mutant a-position-is-a-text does not compile:\n.*replication.*: error TS/),
      expect.stringMatching(/^mutant needs-what-is-not-there does not compile:\n.*positionsOfNothing/),
      "1 of 3 mutants apply and compile",
    ]);
  });

  test("each of them compiles", EXHAUSTIVE, async () => {
    const lines: string[] = [];
    const code = await checkMutants((line) => lines.push(line));
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [`${everyVersion.length} of ${everyVersion.length} mutants apply and compile`],
    });
  });

  test("their names are their own", () => {
    expect(new Set(everyVersion.map(({ name }) => name)).size).toBe(everyVersion.length);
  });

  test.each(testedMutants)("the test that catches $name is there", async ({ caughtBy: { file, title } }) => {
    const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
    const titles = Array.from(text.matchAll(/"([^"\n]+)"/g), ([, written = ""]) => written);
    expect(titles.some((written) => isTitleOf(written, title))).toBe(true);
  });

  test.each([
    ["| mutant | breaks |", allMutants.map(({ name, breaks }) => `| \`${name}\` | ${breaks} |`)],
    [
      "| mutant | breaks | caught by |",
      testedMutants.map(({ name, breaks, caughtBy }) => `| \`${name}\` | ${breaks} | \`${caughtBy.file}\` |`),
    ],
    [
      "| uncaught mutant | breaks |",
      uncaughtMutants.map(({ name, breaks }) => `| \`${name}\` | ${breaks} |`),
    ],
  ])("docs/TESTING.md has the table %s with each of its list, and nothing else", async (head, lines) => {
    const document = await readFile(new URL("../../docs/TESTING.md", import.meta.url), "utf8");
    const [, table = ""] = document.split(`${head}\n`);
    const [, ...written] = (table.split("\n\n")[0] ?? "").split("\n");
    expect(written).toEqual(lines);
  });

  const ledgerStories = Array.from({ length: 22 }, (_, index) => `S${String(index + 1).padStart(2, "0")}`);
  test.each([...ledgerStories, "T03", "T04", "T10", "T11", "T12", "T13", "T15", "T16"])(
    "story %s is what one of them brings about",
    (story) => {
      expect(allMutants.filter(({ breaks }) => breaks.includes(story))).not.toEqual([]);
    },
  );

  test(
    "a wrong protocol is caught, and the seed is reduced to less that still shows it",
    EXHAUSTIVE,
    async () => {
      const mutant = allMutants.find(({ name }) => name === "recovery-writes-nothing-back");
      if (mutant === undefined) throw new Error("that mutant is gone");
      const { runPlan: runMutant } = await bundleMutant(mutant);
      for (let seed = 1; ; seed++) {
        const plan = drawPlan("lossy", seed);
        const { violation } = await runMutant(plan);
        if (violation === undefined) continue;
        expect(violation.checker).not.toBe("failure");
        const bounds = { runs: 40, eventsOfRun: 300_000, events: 4_000_000 };
        const reduction = await smallest(plan, violation, runMutant, bounds);
        const small = reduced(plan, reduction);
        expect(small.faults.length + small.actors.length).toBeLessThan(
          plan.faults.length + plan.actors.length,
        );
        expect((await runMutant(small)).violation?.checker).toBe(violation.checker);
        expect(reproduction(plan, reduction)).toContain(`--profile lossy --seed ${seed} --without `);
        return;
      }
    },
  );
});

test("a reproduction of a whole seed is one short line", () => {
  expect(reproduction(drawPlan("storm", 12), WHOLE)).toBe("npm run sim -- --profile storm --seed 12");
});
