/**
 * What the best-known implementation gets wrong, each as a case that ends well here.
 * Those that concern admission are in admission.test.ts.
 */
import { describe, expect, test } from "vitest";
import { bookieId, entryId, type Region, region } from "../../../lib/protocol/ids.ts";
import { PendingAdds } from "../../../lib/protocol/ledger/pending-adds.ts";
import type { OpenLedger } from "../../../lib/protocol/ledger-metadata.ts";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import { placeEnsemble, regionAware, replaceBookies } from "../../../lib/protocol/placement/region-aware.ts";
import {
  type BookieAddress,
  type Fragment,
  isAckSet,
  type RegionState,
} from "../../../lib/protocol/replication.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import {
  bookie,
  fragment,
  ledgers,
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

const draining = (...names: string[]) =>
  new Map<Region, RegionState>(names.map((name) => [region(name), "draining"]));

describe("new ensembles", () => {
  test.each(["1", "5"])(
    "ten bookies in %s racks and one in another region: refused, not four of five",
    (racks) => {
      for (const ledgerId of ledgers(40)) {
        const answer = placeEnsemble(request(topology(`a:10/${racks},b:1`), "5/5/4 m2", { ledgerId }));
        expect(refused(answer)).toContain("fewer than 2 regions");
      }
    },
  );

  test("with one region left, of one rack or of many, nothing is placed for m = 2", () => {
    for (const left of ["a:10", "a:10/5"]) {
      expect(placeEnsemble(request(topology(left), "5/5/4 m2")).kind).toBe("refused");
      const regionStates = draining("b", "c");
      const answer = placeEnsemble(request(topology(`${left},b:9,c:9`), "5/5/4 m2", { regionStates }));
      expect(answer.kind).toBe("refused");
    }
  });

  test("survivors of 20 and 2, one rack or many: refused, not 13 + 2", () => {
    for (const left of ["a:20,b:2", "a:20/5,b:2/2"]) {
      expect(placeEnsemble(request(topology(left), "15/15/9 m2")).kind).toBe("refused");
      const whole = request(topology(`${left},c:20`), "15/15/9 m2", { home: region("a") });
      expect(tally(regionRing(placed(placeEnsemble(whole))))).toEqual({ a: 7, b: 2, c: 6 });
    }
  });

  test.each([
    ["9/3/3 m2", [20, 20, 20]],
    ["15/5/4 m2", [20, 20, 20]],
    ["6/3/3 m3", [6, 6, 6]],
  ])("striped %s over three regions is placed", (sizes, capacities) => {
    const ensemble = placed(placeEnsemble(request(regionsOf(capacities), sizes)));
    expect(checkEnsemble(ensemble, replication(sizes))).toEqual({ kind: "legal" });
  });

  test("striped with m = 1, no write set lies in one region all the same, over three regions", () => {
    for (const ledgerId of ledgers(200)) {
      const ensemble = placed(placeEnsemble(request(regionsOf([5, 5, 5]), "9/3/2 m1", { ledgerId })));
      expect(checkEnsemble(ensemble, replication("9/3/3 m3"))).toEqual({ kind: "legal" });
    }
  });
});

describe("replacement", () => {
  test("a member that turned read-only still counts in its own region", () => {
    const candidates = topology("a:4,b:2");
    const [a1, a2, a3, , b1, b2] = candidates;
    const ensemble = [a1, a2, a3, b1, b2].flatMap((one) => one ?? []);
    const bookieStates = new Map([
      [bookieId("a.3"), "read-only"],
      [bookieId("b.2"), "lost"],
    ] as const);
    for (const ledgerId of ledgers(200)) {
      const request = replacement(candidates, "5/5/4 m2", ensemble, [4], { ledgerId, bookieStates });
      // A fourth of region a could be an ack quorum by itself.
      expect(refused(replaceBookies(request))).toContain("staying: a: 3, b: 1; usable: a: 1");
      // Gone from the topology altogether, it is still where it was.
      const gone = candidates.filter(({ id }) => id !== "a.3" && id !== "b.2");
      expect(replaceBookies({ ...request, candidates: gone }).kind).toBe("refused");
    }
  });

  test("positions after the failed one are not shifted: what each of six positions allows", () => {
    const sizes = replication("6/3/3 m2");
    const ring = ["a.1", "a.2", "b.1", "b.2", "c.1", "c.2"].map((name) => bookie(name, name[0] ?? ""));
    const allowed = ring.map((_, position) => {
      const fits = (name: string) => {
        const candidates = [...ring, bookie(`${name}.9`, name)];
        return replaceBookies(replacement(candidates, sizes, ring, [position])).kind === "ensemble";
      };
      return ["a", "b", "c"].filter(fits).join("");
    });
    // The other region may not complete three in a row: b not at 1, c not at 0, and so on around the ring.
    expect(allowed).toEqual(["ab", "ac", "bc", "ab", "ac", "bc"]);
  });

  test("R = 4, m = 3, E = Qw = 12, Qa = 9, a region drains: 4 + 4 + 4 in 300 of 300 runs", () => {
    const sizes = replication("12/12/9 m3");
    const candidates = regionsOf([8, 8, 8, 8], 2);
    let replaced = 0;
    for (const ledgerId of ledgers(300)) {
      const ensemble = placed(placeEnsemble(request(candidates, sizes, { ledgerId })));
      const gone = `r${1 + (replaced % 4)}`;
      const positions = [...ensemble.keys()].filter((index) => ensemble[index]?.place.region === gone);
      const more = { ledgerId, regionStates: draining(gone) };
      const answer = placed(replaceBookies(replacement(candidates, sizes, ensemble, positions, more)));
      expect(Object.values(tally(regionRing(answer)))).toEqual([4, 4, 4]);
      replaced++;
    }
    expect(replaced).toBe(300);
  });

  test("one anomalous member does not switch the rule off; it may only get better", () => {
    // Four of five in region a, Qa = 4: an ack quorum can lie in a alone.
    const candidates = topology("a:8,b:3,c:1");
    const names = ["a.1", "a.2", "a.3", "a.4", "b.1"];
    const ensemble = names.map((name) => candidates.find(({ id }) => id === name) ?? bookie(name, "?"));
    const sizes = replication("5/5/4 m2");
    const asked = (position: number, more = {}) =>
      replaceBookies(replacement(candidates, sizes, ensemble, [position], more));
    // b.1 must not become a fifth of region a, though nothing else is left but region a.
    expect(asked(4, { regionStates: draining("b", "c") }).kind).toBe("refused");
    // a.1 may go to where it heals; inside region a it may be replaced too, for that makes nothing worse.
    const healed = placed(asked(0, { regionStates: draining("a") }));
    expect(checkEnsemble(healed, sizes)).toEqual({ kind: "legal" });
    const same = placed(asked(0, { regionStates: draining("b", "c") }));
    expect(regionRing(same)[0]).toBe("a");
    expect(checkEnsemble(same, sizes, ensemble)).toEqual({ kind: "legal" });
  });
});

test("acks count for the ensemble as it is now; a slot's old ack does not outlive its bookie", () => {
  const sizes = replication("3/3/2 m2");
  const [a1, b1, c1] = [bookie("a.1", "a"), bookie("b.1", "b"), bookie("c.1", "c")];
  const pending = new PendingAdds();
  const header = { entryId: entryId(0), ledgerId: 1, lastAddConfirmed: entryId(-1), length: 1, tenure: "t" };
  pending.push({
    entry: { header, payload: new Uint8Array(1), digest: new Uint8Array() } as never,
    acked: new Set([0, 1]),
    failed: new Map(),
    resolve: () => {},
    reject: () => {},
  });
  const headIn = (now: Fragment) =>
    pending.completeHead({ fragments: [now], replication: sizes } as never as OpenLedger);
  expect(headIn(fragment([a1, b1, c1]))).toBeDefined();
  // b.1 is replaced by a second bookie of region a: the two live acks are of one region.
  const changed = fragment([a1, bookie("a.2", "a"), c1]);
  expect(headIn(changed)).toBeUndefined();
  expect(isAckSet([a1, bookie("a.2", "a")], sizes)).toBe(false);
});

test("the port answers with what the checker accepts, for random topologies and ledgers", () => {
  const random = new SeededRandom(1, "port");
  const sizes = replication("6/4/3 m2");
  let legal = 0;
  for (const ledgerId of ledgers(200)) {
    const candidates: readonly BookieAddress[] = regionsOf(
      Array.from({ length: 3 }, () => random.integer(2, 9)),
      2,
    );
    const answer = regionAware.chooseEnsemble(request(candidates, sizes, { ledgerId }));
    if (answer.kind === "refused") continue;
    expect(checkEnsemble(answer.ensemble, sizes)).toEqual({ kind: "legal" });
    const changed = regionAware.replaceBookies(
      replacement(candidates, sizes, answer.ensemble, [2], { ledgerId }),
    );
    if (changed.kind === "ensemble")
      expect(checkEnsemble(changed.ensemble, sizes)).toEqual({ kind: "legal" });
    legal++;
  }
  expect(legal).toBeGreaterThan(100);
});
