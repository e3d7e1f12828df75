/** Replacing bookies of an ensemble (RB1 to RB5). */
import { describe, expect, test, vi } from "vitest";
import { type BookieId, bookieId, type Region, region } from "../../../lib/protocol/ids.ts";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import { placeEnsemble, replaceBookies } from "../../../lib/protocol/placement/region-aware.ts";
import type { BookieAddress, Replication } from "../../../lib/protocol/replication.ts";
import { CPU_BOUND, EXHAUSTIVE } from "../../cpu-bound.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { canBeRefilled, freshBookies, isNoFurther } from "./refillings.ts";
import {
  bookie,
  named,
  placed,
  refused,
  regionRing,
  regionsOf,
  replacement,
  replication,
  request,
  tally,
  topology,
} from "./topologies.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

const ids = (ensemble: readonly BookieAddress[]) => ensemble.map(({ id }) => id);

describe("what is preferred", () => {
  const cloud = topology("a:6/2,b:6/2,c:6/2");
  const ensemble = named(cloud, "a.1", "b.1", "c.1", "a.2", "b.2", "c.2");
  const sizes = replication("6/6/4 m2");

  test("the same rack, at the same position, and nothing else moves", () => {
    const answer = placed(replaceBookies(replacement(cloud, sizes, ensemble, [3])));
    expect(answer[3]?.place).toEqual({ region: "a", rack: "rack-2" });
    expect(answer.toSpliced(3, 1)).toEqual(ensemble.toSpliced(3, 1));
  });

  test("all failed positions at once, each with a bookie of its own rack", () => {
    const answer = placed(replaceBookies(replacement(cloud, sizes, ensemble, [5, 0, 3])));
    expect(answer.map(({ place }) => place)).toEqual(ensemble.map(({ place }) => place));
    expect(answer.map((member, position) => member === ensemble[position])).toEqual([
      ...[false, true, true],
      ...[false, true, false],
    ]);
  });

  test("else the same region, in the rack that holds fewest of its copies", () => {
    const excluded = new Set(["a.4", "a.6"].map(bookieId));
    const answer = placed(replaceBookies(replacement(cloud, sizes, ensemble, [3], { excluded })));
    expect(answer[3]?.place).toEqual({ region: "a", rack: "rack-1" });
    const others = topology("a:9/3,b:3,c:3");
    const some = named(others, "a.1", "a.2", "a.4", "b.1", "b.2", "c.1");
    const noneInItsRack = new Set(["a.5", "a.8"].map(bookieId));
    const spread = placed(replaceBookies(replacement(others, sizes, some, [1], { excluded: noneInItsRack })));
    expect(spread[1]?.place).toEqual({ region: "a", rack: "rack-3" });
  });

  test("else the region that keeps counts most even, the writer's own first among equals", () => {
    const regionStates = new Map([[region("a"), "draining"]] as const);
    const some = named(cloud, "a.1", "b.1", "c.1", "c.2");
    const answer = placed(replaceBookies(replacement(cloud, "4/4/3 m2", some, [0], { regionStates })));
    expect(regionRing(answer)).toEqual(["b", "b", "c", "c"]);
    for (const home of ["b", "c"].map(region)) {
      const balanced = named(cloud, "a.1", "b.1", "c.1");
      const one = placed(
        replaceBookies(replacement(cloud, "3/3/3 m2", balanced, [0], { regionStates, home })),
      );
      expect(one[0]?.place.region).toBe(home);
    }
  });

  test("quarantined bookies only where there is no other, be it in another region", () => {
    const quarantined = new Set(["a.3", "a.5"].map(bookieId));
    const excluded = new Set(["a.4", "a.6"].map(bookieId));
    const some = named(cloud, "a.1", "a.2", "b.1", "c.1");
    const request = replacement(cloud, "4/4/3 m2", some, [0], { quarantined, excluded });
    expect(regionRing(placed(replaceBookies(request)))[0]).not.toBe("a");
    const regionStates = new Map([
      [region("b"), "lost"],
      [region("c"), "lost"],
    ] as const);
    expect(placed(replaceBookies({ ...request, regionStates }))[0]?.id).toMatch(/^a\.[35]$/);
  });
});

describe("what is never done", () => {
  const cloud = topology("a:3,b:3");
  const ensemble = named(cloud, "a.1", "b.1", "a.2", "b.2");

  test("rule 7: a retired bookie is not used again, nor a member, nor one that is excluded", () => {
    const retired = new Set([bookieId("a.3")]);
    const request = replacement(cloud, "4/4/3 m2", ensemble, [0]);
    expect(ids(placed(replaceBookies(request)))).toEqual(["a.3", "b.1", "a.2", "b.2"]);
    const reason = refused(replaceBookies({ ...request, retired }));
    expect(reason).toContain("positions 0 cannot be filled so that every ack quorum of 3 spans 2 regions");
    expect(reason).toContain("(staying: a: 1, b: 2; usable: b: 1)");
    expect(refused(replaceBookies({ ...request, excluded: retired }))).toBe(reason);
  });

  test("nothing is filled in part", () => {
    const request = replacement(cloud, "4/4/3 m2", ensemble, [0, 2]);
    expect(replaceBookies(request)).toMatchObject({
      kind: "refused",
      usable: [
        { region: "a", bookies: 1 },
        { region: "b", bookies: 1 },
      ],
    });
  });

  test("RB2: a member stands where the fragment says, also if the topology has moved it or lost it", () => {
    // The topology says by now that b.1 and b.2 are in region a; a.2 has left it.
    const moved = [
      ...topology("a:1"),
      bookie("a.3", "a"),
      bookie("a.4", "a"),
      bookie("b.1", "a"),
      bookie("b.2", "a"),
    ];
    const answer = placed(replaceBookies(replacement(moved, "4/4/3 m2", ensemble, [0])));
    expect(regionRing(answer)).toEqual(["a", "b", "a", "b"]);
    expect(answer[1]).toBe(ensemble[1]);
    expect(refused(replaceBookies(replacement(moved, "4/4/3 m2", ensemble, [1])))).toContain(
      "staying: a: 2, b: 1",
    );
  });
});

/** What happened to one ledger so far. */
class Life {
  readonly retired = new Set<BookieId>();
  readonly draining = new Set<Region>();
  readonly failed = new Set<BookieId>();

  constructor(
    readonly candidates: readonly BookieAddress[],
    readonly sizes: Replication,
    public ensemble: readonly BookieAddress[],
  ) {}

  /** Drains a region or fails one or two bookies. */
  hit(random: SeededRandom): void {
    if (random.chance(0.4)) {
      this.draining.add(random.pick(this.candidates).place.region);
    } else {
      for (const victim of random.shuffled(this.ensemble).slice(0, random.integer(1, 2)))
        this.failed.add(victim.id);
    }
  }

  get positions(): number[] {
    return [...this.ensemble.keys()].filter((position) => {
      const member = this.ensemble[position];
      return member !== undefined && (this.failed.has(member.id) || this.draining.has(member.place.region));
    });
  }

  replace(othersMayLeave: boolean) {
    const regionStates = new Map([...this.draining].map((one) => [one, "draining" as const]));
    const { retired, failed: excluded } = this;
    const more = { retired, excluded, regionStates, othersMayLeave };
    return replaceBookies(replacement(this.candidates, this.sizes, this.ensemble, this.positions, more));
  }

  canBeRefilled(othersMayLeave: boolean): boolean {
    const barred = new Set([...this.retired, ...this.failed]);
    const fresh = freshBookies(this.candidates, this.ensemble, barred, this.draining);
    return canBeRefilled({
      ensemble: this.ensemble,
      failed: this.positions,
      fresh,
      sizes: this.sizes,
      othersMayLeave,
    });
  }

  adopt(ensemble: readonly BookieAddress[]): void {
    for (const member of this.ensemble) if (!ensemble.includes(member)) this.retired.add(member.id);
    this.ensemble = ensemble;
  }
}

function randomLife(random: SeededRandom, ensembleMax: number): Life | undefined {
  const regions = random.integer(2, 4);
  const capacities = Array.from({ length: regions }, () => random.integer(1, 5));
  const candidates = regionsOf(capacities, random.integer(1, 3));
  const ensembleSize = random.integer(2, Math.min(candidates.length, ensembleMax));
  const writeQuorum = random.chance(0.4) ? ensembleSize : random.integer(2, ensembleSize);
  const minRegions = random.integer(2, Math.min(regions, writeQuorum, 3));
  const ackQuorum = random.integer(minRegions, writeQuorum);
  const sizes = { ensembleSize, writeQuorum, ackQuorum, minRegions };
  const answer = placeEnsemble(request(candidates, sizes));
  return answer.kind === "ensemble" ? new Life(candidates, sizes, answer.ensemble) : undefined;
}

test(
  "drain any region, fail one or two, in any order: replaced where brute force can, E <= 7",
  EXHAUSTIVE,
  () => {
    const random = new SeededRandom(11, "replacement");
    const seen = { replaced: 0, refused: 0, onlyWithOthers: 0 };
    for (let lives = 0; lives < 1_200; ) {
      const life = randomLife(random, 7);
      if (life === undefined) continue;
      lives++;
      for (let hits = 0; hits < 3; hits++) {
        life.hit(random);
        const ring = regionRing(life.ensemble);
        const story = `life ${lives}: ${ring} ${JSON.stringify(life.sizes)} ${life.positions}`;
        const answer = life.replace(false);
        expect(answer.kind, story).toBe(life.canBeRefilled(false) ? "ensemble" : "refused");
        const wider = answer.kind === "ensemble" ? answer : life.replace(true);
        if (answer.kind === "refused") {
          expect(wider.kind, story).toBe(life.canBeRefilled(true) ? "ensemble" : "refused");
        }
        if (wider.kind === "refused") {
          seen.refused++;
          break;
        }
        expect(checkEnsemble(wider.ensemble, life.sizes), story).toEqual({ kind: "legal" });
        seen[answer.kind === "ensemble" ? "replaced" : "onlyWithOthers"]++;
        life.adopt(wider.ensemble);
      }
    }
    expect(seen.replaced).toBeGreaterThan(500);
    expect(seen.refused).toBeGreaterThan(300);
    expect(seen.onlyWithOthers).toBeGreaterThan(10);
  },
);

describe("R = 4, m = 3, E = Qw = 12, Qa = 9", () => {
  const sizes = replication("12/12/9 m3");

  test.each(["r1", "r2", "r3", "r4"])(
    "draining %s leads to 4 + 4 + 4, whatever else fails with it",
    (drained) => {
      const random = new SeededRandom(7, drained);
      const candidates = regionsOf([7, 7, 7, 7], 2);
      for (let run = 0; run < 100; run++) {
        const life = new Life(candidates, sizes, placed(placeEnsemble(request(candidates, sizes))));
        life.draining.add(region(drained));
        for (const victim of random.shuffled(life.ensemble).slice(0, random.integer(0, 2)))
          life.failed.add(victim.id);
        const ensemble = placed(life.replace(false));
        expect(Object.values(tally(regionRing(ensemble)))).toEqual([4, 4, 4]);
        expect(checkEnsemble(ensemble, sizes)).toEqual({ kind: "legal" });
      }
    },
  );

  test("a failed position leaves its own region where refilling it would be too much: 5 becomes 4", () => {
    const cloud = topology("a:6,b:5,c:5,d:1");
    const members = ["a.1", "a.2", "a.3", "a.4", "a.5", "b.1", "b.2", "b.3", "c.1", "c.2", "c.3", "d.1"];
    const regionStates = new Map([[region("d"), "draining"]] as const);
    const drained = replacement(cloud, sizes, named(cloud, ...members), [0, 11], { regionStates });
    expect(tally(regionRing(placed(replaceBookies(drained))))).toEqual({ a: 4, b: 4, c: 4 });
  });

  test("failures before the drain, bookies that never come back: refused only when brute force is", () => {
    const random = new SeededRandom(8, "uneven");
    const seen = { ensemble: 0, refused: 0 };
    for (let run = 0; run < 150; run++) {
      const candidates = regionsOf(Array.from({ length: 4 }, () => random.integer(3, 7)));
      const answer = placeEnsemble(request(candidates, sizes));
      if (answer.kind === "refused") continue;
      const life = new Life(candidates, sizes, answer.ensemble);
      for (let hits = 0; hits < 3; hits++) {
        if (life.draining.size === 0 || random.chance(0.7)) life.hit(random);
        // Only counts matter here, so that brute force may fill one position after the other.
        const replaced = life.replace(false);
        expect(replaced.kind).toBe(life.canBeRefilled(false) ? "ensemble" : "refused");
        seen[replaced.kind]++;
        if (replaced.kind === "refused") break;
        life.adopt(replaced.ensemble);
      }
    }
    expect(seen.ensemble).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(30);
  });
});

describe("at true indices", () => {
  test(
    "random legal rings E = 6, Qw = Qa = 3, m = 2, a region drained, 4,000 times: as brute force",
    EXHAUSTIVE,
    () => {
      const random = new SeededRandom(8, "rings");
      const sizes = replication("6/3/3 m2");
      const candidates = regionsOf([4, 4, 4]);
      const seen = { ensemble: 0, refused: 0 };
      for (let run = 0; run < 4_000; ) {
        const ensemble = random.shuffled(candidates).slice(0, 6);
        if (checkEnsemble(ensemble, sizes).kind === "illegal") continue;
        run++;
        const life = new Life(candidates, sizes, ensemble);
        const position = random.integer(0, 5);
        const victim = ensemble[position];
        if (victim === undefined) continue;
        // Only this slot is replaced; its region takes nobody any more.
        const regionStates = new Map([[victim.place.region, "draining" as const]]);
        const answer = replaceBookies(replacement(candidates, sizes, ensemble, [position], { regionStates }));
        const fresh = freshBookies(candidates, ensemble, new Set(), new Set([victim.place.region]));
        const isPossible = canBeRefilled({
          ensemble,
          failed: [position],
          fresh,
          sizes,
          othersMayLeave: false,
        });
        expect(answer.kind, `${regionRing(life.ensemble)} at ${position}`).toBe(
          isPossible ? "ensemble" : "refused",
        );
        if (answer.kind === "ensemble") expect(checkEnsemble(answer.ensemble, sizes).kind).toBe("legal");
        seen[answer.kind]++;
      }
      expect(seen.ensemble).toBeGreaterThan(2_000);
      expect(seen.refused).toBeGreaterThan(50);
    },
  );
});

test(
  "RB5: one that is not legal gets no worse in any write set, and is refilled where it can be",
  EXHAUSTIVE,
  () => {
    const random = new SeededRandom(9, "anomalous");
    const seen = { illegal: 0, healed: 0, refused: 0 };
    for (let run = 0; run < 3_000; run++) {
      const candidates = [...regionsOf([6, 4, 2]), ...topology("unknown:2")];
      const othersMayLeave = random.chance(0.3);
      const ensembleSize = random.integer(3, othersMayLeave ? 5 : 7);
      const writeQuorum = random.integer(2, ensembleSize);
      const minRegions = random.integer(2, Math.min(3, writeQuorum));
      const sizes = {
        ensembleSize,
        writeQuorum,
        ackQuorum: random.integer(minRegions, writeQuorum),
        minRegions,
      };
      const ensemble = random.shuffled(candidates).slice(0, ensembleSize);
      if (checkEnsemble(ensemble, sizes).kind === "legal") continue;
      seen.illegal++;
      const positions = random.shuffled([...ensemble.keys()]).slice(0, random.integer(1, 2));
      const gone = new Set(random.chance(0.5) ? [random.pick(candidates).place.region] : []);
      const regionStates = new Map([...gone].map((one) => [one, "lost" as const]));
      const more = { othersMayLeave, regionStates };
      const answer = replaceBookies(replacement(candidates, sizes, ensemble, positions, more));
      const fresh = freshBookies(candidates, ensemble, new Set(), gone);
      const before = ensemble.map(({ place }) => place.region);
      const isGood = (after: readonly Region[]) => isNoFurther(before, after, sizes);
      const wanted = { ensemble, failed: positions, fresh, sizes, othersMayLeave, isGood };
      expect(answer.kind, `${before} ${JSON.stringify(sizes)} ${positions}`).toBe(
        canBeRefilled(wanted) ? "ensemble" : "refused",
      );
      if (answer.kind === "refused") {
        seen.refused++;
        continue;
      }
      expect(isGood(answer.ensemble.map(({ place }) => place.region))).toBe(true);
      expect(checkEnsemble(answer.ensemble, sizes, ensemble)).toEqual({ kind: "legal" });
      if (checkEnsemble(answer.ensemble, sizes).kind === "legal") seen.healed++;
    }
    expect(seen.illegal).toBeGreaterThan(1_000);
    expect(seen.refused).toBeLessThan(seen.illegal / 2);
    expect(seen.healed).toBeGreaterThan(20);
  },
);

test("callers that ask for nonsense are told so", () => {
  const cloud = topology("a:2,b:2");
  const ensemble = named(cloud, "a.1", "b.1");
  expect(() => replaceBookies(replacement(cloud, "2/2/2 m2", ensemble, [2]))).toThrow(
    "position 2 is outside",
  );
  expect(() => replaceBookies(replacement(cloud, "3/3/3 m2", ensemble, [0]))).toThrow(
    "an ensemble of 3 has 2",
  );
  expect(placed(replaceBookies(replacement(cloud, "2/2/2 m2", ensemble, [])))).toEqual(ensemble);
  const twice = placed(replaceBookies(replacement(cloud, "2/2/2 m2", ensemble, [0, 0])));
  expect(ids(twice)).toEqual(["a.2", "b.1"]);
});
