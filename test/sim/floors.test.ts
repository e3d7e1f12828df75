/** A run that saw too little fails, and no kind of fault that a profile draws can stay away unnoticed. */
import { describe, expect, test } from "vitest";
import { countedAs } from "./faults.ts";
import { EACH_FAULT, floors, functionFloors, missedFloors } from "./floors.ts";
import { drawPlan, profileOf } from "./profiles/all-profiles.ts";
import { nothing } from "./run-counts.ts";

describe.each([
  ["without functions", floors],
  ["with functions", functionFloors],
])("a run %s", (_, wanted) => {
  const { kinds, seeds, ...numbers } = wanted;
  const enough = { ...nothing, ...numbers, faults: new Map(kinds.map((kind) => [kind, EACH_FAULT])) };

  test("that saw exactly enough misses nothing", () => {
    expect(missedFloors(wanted, seeds, enough)).toEqual([]);
  });

  test.each(["acknowledged", "recoveries", "ensembleChanges", "takeovers"] as const)("misses %s", (name) => {
    const few = { ...enough, [name]: numbers[name] - 1 };
    expect(missedFloors(wanted, seeds, few)).toEqual([
      `${name}: ${numbers[name] - 1}, at least ${numbers[name]} are wanted`,
    ]);
  });

  test("misses seeds", () => {
    expect(missedFloors(wanted, seeds - 1, enough)).toHaveLength(1);
  });

  test.each(kinds)("misses %s", (kind) => {
    const faults = new Map([...enough.faults, [kind, EACH_FAULT - 1]]);
    expect(missedFloors(wanted, seeds, { ...enough, faults })).toEqual([
      `fault ${kind}: ${EACH_FAULT - 1} times, at least ${EACH_FAULT} are wanted`,
    ]);
  });
});

test("whatever plans of either run hold has its floor in one of them, and nothing else has", () => {
  const drawn = new Set<string>();
  for (let seed = 1; seed <= 300; seed++) {
    for (const profile of [profileOf(seed), "functions"]) {
      for (const fault of drawPlan(profile, seed).faults) drawn.add(countedAs(fault));
    }
  }
  expect([...drawn].sort()).toEqual([...new Set([...floors.kinds, ...functionFloors.kinds])].sort());
});
