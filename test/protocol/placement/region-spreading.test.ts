/** The simple placement policy: even over regions and racks, no ack quorum in fewer than minRegions. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bookieId, entryId, ledgerId, region } from "../../../lib/protocol/ids.ts";
import type { Replication } from "../../../lib/protocol/ledger/ledger-metadata.ts";
import { isAckSet, writeSetPositions } from "../../../lib/protocol/ledger/write-set.ts";
import type { BookieAddress } from "../../../lib/protocol/place.ts";
import type { PlacementAnswer } from "../../../lib/protocol/placement/placement.ts";
import { regionSpreading } from "../../../lib/protocol/placement/region-spreading.ts";

/** `topology({ a: ["r1 r1 r2"] })`: bookies of region a in these racks, named a0, a1, a2. */
function topology(regions: Readonly<Record<string, string>>): BookieAddress[] {
  return Object.entries(regions).flatMap(([where, racks]) =>
    racks.split(" ").map((rack, index) => ({
      id: bookieId(`${where}${index}`),
      place: { region: region(where), rack },
    })),
  );
}

const quorums = (e: number, qw: number, qa: number, m: number): Replication => ({
  ensembleSize: e,
  writeQuorum: qw,
  ackQuorum: qa,
  minRegions: m,
});

const choose = (
  candidates: readonly BookieAddress[],
  replication: Replication,
  fields: { id?: number; home?: string; excluded?: readonly string[] } = {},
) =>
  regionSpreading.chooseEnsemble({
    ledgerId: ledgerId(fields.id ?? 0),
    replication,
    candidates,
    excluded: new Set((fields.excluded ?? []).map(bookieId)),
    home: region(fields.home ?? "a"),
  });

const replace = (
  candidates: readonly BookieAddress[],
  replication: Replication,
  ensemble: readonly BookieAddress[],
  positions: readonly number[],
  excluded: readonly string[] = [],
) =>
  regionSpreading.replaceBookies({
    ledgerId: ledgerId(3),
    replication,
    candidates,
    excluded: new Set(excluded.map(bookieId)),
    home: region("a"),
    fragment: { firstEntry: entryId(0), ensemble },
    positions,
  });

function ensembleOf(answer: PlacementAnswer): readonly BookieAddress[] {
  if (answer.kind === "refused") throw new Error(answer.reason);
  return answer.ensemble;
}

const names = (answer: PlacementAnswer) => ensembleOf(answer).map((member) => member.id);

function pick<T>(items: readonly T[], count: number): T[][] {
  const [first, ...rest] = items;
  if (count === 0) return [[]];
  if (first === undefined) return [];
  return [...pick(rest, count - 1).map((some) => [first, ...some]), ...pick(rest, count)];
}

/** By the definition: whether some Qa bookies of some write set lie in fewer than minRegions regions. */
function hasWeakAckQuorum(ensemble: readonly BookieAddress[], replication: Replication): boolean {
  return ensemble.some((_, start) => {
    const positions = writeSetPositions(entryId(start), replication);
    const set = positions.flatMap((position) => ensemble[position] ?? []);
    return pick(set, replication.ackQuorum).some((quorum) => !isAckSet(quorum, replication));
  });
}

const three = topology({ a: "r1 r2", b: "r1 r2", c: "r1 r2" });

describe("a new ensemble", () => {
  test("takes regions in turn, the home region first", () => {
    const regions = ensembleOf(choose(three, quorums(6, 6, 4, 2), { home: "b" })).map(
      (one) => one.place.region,
    );
    expect(regions[0]).toBe("b");
    expect(regions.slice(0, 3).sort()).toEqual(["a", "b", "c"]);
    expect(regions.slice(3)).toEqual(regions.slice(0, 3));
  });

  test("takes racks in turn within a region", () => {
    const candidates = topology({ a: "r1 r1 r1 r2 r2 r2", b: "r1 r2", c: "r1 r2" });
    for (let id = 0; id < 12; id++) {
      const members = ensembleOf(choose(candidates, quorums(6, 3, 2, 1), { id }));
      const racks = members.filter((one) => one.place.region === "a").map((one) => one.place.rack);
      expect(racks.sort()).toEqual(["r1", "r2"]);
    }
  });

  test("changes with the ledger, so that no bookie gets them all", () => {
    const used = new Map<string, number>();
    for (let id = 0; id < 120; id++) {
      for (const name of names(choose(three, quorums(3, 3, 2, 2), { id })))
        used.set(name, (used.get(name) ?? 0) + 1);
    }
    expect(used.size).toBe(6);
    for (const [name, times] of used) expect(times, name).toBeGreaterThanOrEqual(30);
    const second = new Set(
      [0, 1].map((id) => ensembleOf(choose(three, quorums(3, 3, 2, 2), { id }))[1]?.place.region),
    );
    expect(second).toEqual(new Set(["b", "c"]));
  });

  test("does without excluded bookies, or says that there are too few", () => {
    const answer = choose(three, quorums(4, 4, 3, 2), { excluded: ["a0", "b1"] });
    expect(names(answer)).not.toContain("a0");
    expect(names(answer)).not.toContain("b1");
    const refused = choose(three, quorums(4, 4, 3, 2), { excluded: ["a0", "a1", "b1"] });
    expect(refused).toMatchObject({ kind: "refused", reason: expect.stringContaining("b0") });
  });

  test("works when the home region has no bookie", () => {
    expect(names(choose(three, quorums(3, 3, 2, 2), { home: "elsewhere" })).length).toBe(3);
  });

  test.each([
    ["two of one region in an ack quorum of two", { a: "r1 r2", b: "r1" }, quorums(3, 3, 2, 2)],
    ["one region only", { a: "r1 r2 r3" }, quorums(3, 3, 2, 2)],
    ["three regions demanded, two there", { a: "r1 r2", b: "r1 r2" }, quorums(4, 4, 3, 3)],
  ])("is refused with the reason: %s", (_, regions, replication) => {
    const answer = choose(topology(regions), replication);
    expect(answer.kind).toBe("refused");
    expect(answer.kind === "refused" ? answer.reason : "").toMatch(/fewer than \d regions/);
  });
});

describe("replacements", () => {
  const four = quorums(4, 4, 3, 2);
  const rich = topology({ a: "r1 r2 r3", b: "r1 r2 r3", c: "r1 r2 r3" });
  const ensemble = ensembleOf(choose(rich, four));

  test("stand at the very positions, and all others stay", () => {
    for (let position = 0; position < 4; position++) {
      const after = ensembleOf(replace(rich, four, ensemble, [position]));
      expect(after.map((member, index) => member.id === ensemble[index]?.id)).toEqual(
        [0, 1, 2, 3].map((index) => index !== position),
      );
    }
  });

  test("come from the region that lost the bookie, if it has another", () => {
    for (let position = 0; position < 4; position++) {
      const after = ensembleOf(replace(rich, four, ensemble, [position]));
      expect(after[position]?.place.region).toBe(ensemble[position]?.place.region);
    }
  });

  test("come from the emptiest region otherwise", () => {
    const lost = rich.filter((one) => one.place.region === "b").map((one) => String(one.id));
    const position = ensemble.findIndex((one) => one.place.region === "b");
    const after = ensembleOf(replace(rich, four, ensemble, [position], lost));
    const count = (where: string) => after.filter((one) => one.place.region === where).length;
    expect([count("a"), count("b"), count("c")]).toEqual([2, 0, 2]);
  });

  test("are chosen together: no bookie twice, no member, nobody excluded", () => {
    const after = ensembleOf(replace(rich, four, ensemble, [0, 1, 3], ["a2"]));
    expect(new Set(after.map((one) => one.id)).size).toBe(4);
    const members = ensemble.map((one) => String(one.id));
    for (const position of [0, 1, 3]) {
      expect(members).not.toContain(after[position]?.id);
      expect(after[position]?.id).not.toBe("a2");
    }
  });

  test("are refused if there are too few, or if an ack quorum could end in one region", () => {
    const short = rich.filter((one) => ensemble.some((member) => member.id === one.id));
    expect(replace(short, four, ensemble, [0])).toMatchObject({ kind: "refused" });
    const pair = topology({ a: "r1 r2", b: "r1" });
    const spread = ensembleOf(choose(pair, quorums(2, 2, 2, 2)));
    const far = spread.findIndex((one) => one.place.region === "b");
    expect(replace(pair, quorums(2, 2, 2, 2), spread, [far], ["b0"])).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(/fewer than 2 regions/),
    });
  });
});

describe("any topology", () => {
  const anyTopology = fc
    .array(fc.array(fc.constantFrom("r1", "r2", "r3"), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((regions) =>
      topology(
        Object.fromEntries(regions.map((racks, index) => [String.fromCharCode(97 + index), racks.join(" ")])),
      ),
    );
  const anyQuorums = fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.nat(), fc.nat(), fc.nat())
    .map(([e, qw, qa, m]) => {
      const writeQuorum = 1 + (qw % e);
      const ackQuorum = 1 + (qa % writeQuorum);
      return quorums(e, writeQuorum, ackQuorum, 1 + (m % Math.min(ackQuorum, 3)));
    });

  function checkEnsemble(
    answer: PlacementAnswer,
    replication: Replication,
    excluded: readonly string[],
  ): void {
    if (answer.kind === "refused") {
      expect(answer.reason.length).toBeGreaterThan(20);
      return;
    }
    const ids = answer.ensemble.map((member) => String(member.id));
    expect([ids.length, new Set(ids).size]).toEqual([replication.ensembleSize, replication.ensembleSize]);
    expect(ids.filter((id) => excluded.includes(id))).toEqual([]);
    expect(hasWeakAckQuorum(answer.ensemble, replication)).toBe(false);
  }

  test("an ensemble, new or changed, is whole, distinct, and has no weak ack quorum", () => {
    fc.assert(
      fc.property(
        anyTopology,
        anyQuorums,
        fc.maxSafeNat(),
        fc.nat(63),
        (candidates, replication, id, bits) => {
          const excluded = candidates
            .filter((_, index) => (bits >> index) & 1 & (id >> 3))
            .map((one) => String(one.id));
          const answer = choose(candidates, replication, { id, excluded });
          checkEnsemble(answer, replication, excluded);
          if (answer.kind === "refused") return;
          const positions = answer.ensemble.map((_, index) => index).filter((index) => (bits >> index) & 1);
          const gone = positions.map((position) => String(answer.ensemble[position]?.id));
          const changed = replace(candidates, replication, answer.ensemble, positions, gone);
          checkEnsemble(changed, replication, gone);
        },
      ),
      { seed: 23, numRuns: 500 },
    );
  });

  test("with enough bookies everywhere, regions differ by at most one", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 12 }),
        fc.maxSafeNat(),
        (count, e, id) => {
          const regions = Object.fromEntries(
            Array.from({ length: count }, (_, index) => [
              String.fromCharCode(97 + index),
              Array(12).fill("r").join(" "),
            ]),
          );
          const ensemble = ensembleOf(choose(topology(regions), quorums(e, 1, 1, 1), { id }));
          const counts = Object.keys(regions).map(
            (where) => ensemble.filter((one) => one.place.region === where).length,
          );
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        },
      ),
      { seed: 29 },
    );
  });
});
