/** Replacement that may ask others to leave, where nothing else is legal (RR4, ER2). */
import { describe, expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import { replaceBookies } from "../../../lib/protocol/placement/region-aware.ts";
import { named, placed, regionRing, replacement, replication, tally, topology } from "./topologies.ts";

describe("others may leave", () => {
  const sizes = replication("6/4/3 m2");
  const candidates = topology("a:5,b:5,c:2");
  const ensemble = named(candidates, "a.1", "b.1", "c.1", "a.2", "b.2", "c.2");
  const regionStates = new Map([[region("c"), "draining"]] as const);

  test("where no filling of the failed positions is legal: ABCABC without C needs ABABAB", () => {
    const drained = replacement(candidates, sizes, ensemble, [2, 5], { regionStates });
    expect(replaceBookies(drained).kind).toBe("refused");
    const answer = placed(replaceBookies({ ...drained, othersMayLeave: true }));
    expect(checkEnsemble(answer, sizes)).toEqual({ kind: "legal" });
    // As few as possible: two of the four that were well.
    const stayed = answer.filter((member, position) => member === ensemble[position]);
    expect(stayed).toHaveLength(2);
    // Rule 7: a bookie that comes in was no member before, so none moves to another position.
    expect(answer.filter((member) => ensemble.includes(member))).toHaveLength(2);
  });

  test("but none does where the failed positions suffice", () => {
    const answer = placed(
      replaceBookies(replacement(candidates, sizes, ensemble, [0], { othersMayLeave: true })),
    );
    expect(answer.filter((member) => ensemble.includes(member))).toHaveLength(5);
  });

  test("with E = Qw too: one of the fullest region makes room, 5 + 3 + 3 + 1 becomes 4 + 4 + 4", () => {
    const cloud = topology("a:5,b:5,c:5,d:1");
    const full = named(
      cloud,
      ...["a.1", "a.2", "a.3", "a.4", "a.5", "b.1", "b.2", "b.3", "c.1", "c.2", "c.3", "d.1"],
    );
    const drained = replacement(cloud, "12/12/9 m3", full, [11], {
      regionStates: new Map([[region("d"), "draining"]]),
    });
    expect(checkEnsemble(full, drained.replication)).toEqual({ kind: "legal" });
    expect(replaceBookies(drained).kind).toBe("refused");
    const answer = placed(replaceBookies({ ...drained, othersMayLeave: true }));
    expect(tally(regionRing(answer))).toEqual({ a: 4, b: 4, c: 4 });
    expect(answer.filter((member) => full.includes(member))).toHaveLength(10);
  });

  test("one of no known region makes room as well, where known ones would be too many beside it", () => {
    const cloud = topology("unknown:1,a:2,b:2,c:1");
    const mixed = named(cloud, "unknown.1", "a.1", "b.1", "c.1");
    const failed = replacement(cloud, "4/3/3 m2", mixed, [3]);
    expect(checkEnsemble(mixed, failed.replication)).toEqual({ kind: "legal" });
    expect(replaceBookies(failed).kind).toBe("refused");
    const answer = placed(replaceBookies({ ...failed, othersMayLeave: true }));
    expect(regionRing(answer)).toEqual(["b", "a", "b", "a"]);
  });
});
