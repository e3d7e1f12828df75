/** Write sets and what answers from them prove, against brute force over the definitions. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bookieId, type EntryId, entryId, region } from "../../lib/protocol/ids.ts";
import {
  type BookieAddress,
  type Fragment,
  isAckSet,
  memberAt,
  negativeQuorum,
  provesAbsence,
  type Replication,
  writeSet,
  writeSetPositions,
} from "../../lib/protocol/replication.ts";

const quorums = (e: number, qw: number, qa = 1, m = 1): Replication => ({
  ensembleSize: e,
  writeQuorum: qw,
  ackQuorum: qa,
  minRegions: m,
});

const bookie = (name: string, where = "r"): BookieAddress => ({
  id: bookieId(name),
  place: { region: region(where), rack: name },
});

/** All sublists. */
function sublists<T>(items: readonly T[]): T[][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  return sublists(rest).flatMap((one) => [one, [first, ...one]]);
}

describe("write sets", () => {
  test("entry e goes to positions (e + i) mod E, for ids far beyond 2^31", () => {
    const anyQuorums = fc
      .integer({ min: 1, max: 20 })
      .chain((e) => fc.tuple(fc.constant(e), fc.integer({ min: 1, max: e })));
    const anyEntry = fc.oneof(
      fc.maxSafeNat(),
      ...[2 ** 31, 2 ** 32, 2 ** 33, 2 ** 53 - 64].map((base) =>
        fc.integer({ min: base - 40, max: base + 40 }),
      ),
    );
    fc.assert(
      fc.property(anyQuorums, anyEntry, ([e, qw], entry) => {
        const brute = Array.from({ length: qw }, (_, i) => Number((BigInt(entry) + BigInt(i)) % BigInt(e)));
        expect(writeSetPositions(entryId(entry), quorums(e, qw))).toEqual(brute);
      }),
      { seed: 31, numRuns: 1_000 },
    );
  });

  test.each([
    [2 ** 31 - 1, 5, 3],
    [2 ** 31, 5, 3],
    [2 ** 32 - 1, 3, 2],
    [2 ** 32 + 1, 7, 4],
    [Number.MAX_SAFE_INTEGER, 6, 6],
  ])("positions of entry %i, E %i, Qw %i are distinct and inside the ensemble", (entry, e, qw) => {
    const positions = writeSetPositions(entryId(entry), quorums(e, qw));
    expect(new Set(positions).size).toBe(qw);
    expect(positions.every((position) => position >= 0 && position < e)).toBe(true);
  });

  test("the absolute id counts: a new fragment does not start its stripes anew", () => {
    const ensemble = ["B0", "B1", "B2", "B3"].map((name) => bookie(name));
    const at = (firstEntry: number): Fragment => ({ firstEntry: entryId(firstEntry), ensemble });
    const names = (entry: number, fragment: Fragment) =>
      writeSet(entryId(entry), fragment, quorums(4, 2)).map((member) => String(member.id));
    for (let entry = 5; entry < 20; entry++) expect(names(entry, at(0))).toEqual(names(entry, at(5)));
    expect(names(7, at(5))).toEqual(["B3", "B0"]);
  });

  test("a replacement changes the write sets of its own position and no others", () => {
    const before = ["B0", "B1", "B2", "B3", "B4"].map((name) => bookie(name));
    const after = before.map((member, position) => (position === 2 ? bookie("B9") : member));
    for (let entry = 0; entry < 10; entry++) {
      const sets = [before, after].map((ensemble) =>
        writeSet(entryId(entry), { firstEntry: entryId(0), ensemble }, quorums(5, 3)).map((one) => one.id),
      );
      const touched = writeSetPositions(entryId(entry), quorums(5, 3)).includes(2);
      expect(sets[0]?.filter((id) => !sets[1]?.includes(id))).toEqual(touched ? ["B2"] : []);
    }
  });

  test("there is no write set before entry 0, and no member outside the ensemble", () => {
    expect(() => writeSetPositions(-1 as EntryId, quorums(3, 2))).toThrow(/entry -1 has no write set/);
    const fragment = { firstEntry: entryId(0), ensemble: [bookie("B0")] };
    expect(() => memberAt(fragment, 1)).toThrow(/position 1 is outside the ensemble/);
  });
});

describe("what answers prove", () => {
  const regions = ["a", "b", "c"];

  /** Every way to place Qw bookies in up to three regions, with every Qa and minRegions. */
  function* situations(): Generator<{ set: BookieAddress[]; replication: Replication }> {
    for (let qw = 1; qw <= 4; qw++) {
      for (let code = 0; code < regions.length ** qw; code++) {
        const set = Array.from({ length: qw }, (_, index) =>
          bookie(`B${index}`, regions[Math.floor(code / regions.length ** index) % regions.length]),
        );
        for (let qa = 1; qa <= qw; qa++) {
          for (let m = 1; m <= Math.min(qa, 3); m++) yield { set, replication: quorums(qw, qw, qa, m) };
        }
      }
    }
  }

  /** ACK set by its definition. */
  const holds = (members: readonly BookieAddress[], { ackQuorum, minRegions }: Replication) =>
    members.length >= ackQuorum && new Set(members.map((one) => one.place.region)).size >= minRegions;

  /** Situations in which the two differ: none. One assertion for some ten thousand of them. */
  function differences(
    actual: (some: BookieAddress[], set: BookieAddress[], replication: Replication) => boolean,
    expected: (some: BookieAddress[], set: BookieAddress[], replication: Replication) => boolean,
  ): string[] {
    const found: string[] = [];
    let checked = 0;
    for (const { set, replication } of situations()) {
      for (const some of sublists(set)) {
        checked += 1;
        if (actual(some, set, replication) === expected(some, set, replication)) continue;
        found.push(JSON.stringify({ some, set, replication }));
      }
    }
    expect(checked).toBeGreaterThan(10_000);
    return found;
  }

  test("isAckSet: at least Qa bookies in at least minRegions regions, all placements", () => {
    const actual = (some: BookieAddress[], _: BookieAddress[], replication: Replication) =>
      isAckSet(some, replication);
    expect(differences(actual, (some, _, replication) => holds(some, replication))).toEqual([]);
  });

  test("isAckSet counts a bookie once, however often it answered", () => {
    const one = bookie("B0", "a");
    expect(isAckSet([one, one, one], quorums(3, 3, 2))).toBe(false);
    expect(isAckSet([one, { ...one }, bookie("B1", "a")], quorums(3, 3, 2))).toBe(true);
    expect(isAckSet([one, bookie("B1", "a")], quorums(3, 3, 2, 2))).toBe(false);
  });

  test("provesAbsence: exactly if no Qa bookies are left without a negative, all placements", () => {
    const noAckQuorumLeft = (some: BookieAddress[], set: BookieAddress[], replication: Replication) => {
      const rest = set.filter((member) => !some.includes(member));
      return !sublists(rest).some((holders) => holders.length >= replication.ackQuorum);
    };
    expect(differences(provesAbsence, noAckQuorumLeft)).toEqual([]);
    const needed = (some: BookieAddress[], _: BookieAddress[], replication: Replication) =>
      some.length >= negativeQuorum(replication);
    expect(differences(provesAbsence, needed)).toEqual([]);
    expect(negativeQuorum(quorums(5, 4, 3))).toBe(2);
  });

  test("a proof of absence meets every ACK set, whatever regions it demands", () => {
    const proofMissesAckSet = (some: BookieAddress[], set: BookieAddress[], replication: Replication) => {
      if (!provesAbsence(some, set, replication)) return false;
      const rest = set.filter((member) => !some.includes(member));
      return sublists(rest).some((holders) => isAckSet(holders, replication));
    };
    expect(differences(proofMissesAckSet, () => false)).toEqual([]);
  });

  test("regions make no negatives enough: 4/4/2 over two regions, both bookies of one (S21)", () => {
    const set = [bookie("B0", "a"), bookie("B1", "b"), bookie("B2", "a"), bookie("B3", "b")];
    const spread = quorums(4, 4, 2, 2);
    expect(isAckSet([bookie("B0", "a"), bookie("B2", "a")], spread)).toBe(false);
    expect(provesAbsence([bookie("B1", "b"), bookie("B3", "b")], set, spread)).toBe(false);
    expect(provesAbsence([bookie("B1", "b"), bookie("B3", "b"), bookie("B0", "a")], set, spread)).toBe(true);
  });

  test("negatives of bookies outside the write set prove nothing", () => {
    const set = [bookie("B0"), bookie("B1"), bookie("B2")];
    const strangers = [bookie("B7"), bookie("B8"), bookie("B9")];
    expect(provesAbsence(strangers, set, quorums(5, 3, 2))).toBe(false);
    expect(provesAbsence([...strangers, bookie("B0")], set, quorums(5, 3, 2))).toBe(false);
    expect(provesAbsence([bookie("B0"), bookie("B0")], set, quorums(5, 3, 2))).toBe(false);
  });
});
