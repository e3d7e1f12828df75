/** A policy's answer is judged before any copy follows it (rules 6, 7; placement's CK1 to CK3). */
import { describe, expect, test } from "vitest";
import { type BookieId, bookieId } from "../../../lib/protocol/ids.ts";
import { judgeReplacement } from "../../../lib/protocol/ledger/change-ensemble.ts";
import { WriteBack } from "../../../lib/protocol/ledger/write-back.ts";
import type { Placement } from "../../../lib/protocol/placement/placement.ts";
import { sealed, slots } from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";
import { named, replication, topology } from "../placement/topologies.ts";

const cloud = topology("a:3,b:3,c:1");
const sizes = replication("4/4/3 m2");
const before = named(cloud, "a.1", "b.1", "a.2", "b.2");

function judged(names: string[], barred: readonly string[] = [], quorums = sizes, from = before) {
  const answer = { kind: "ensemble", ensemble: named(cloud, ...names) } as const;
  const ids: ReadonlySet<BookieId> = new Set(barred.map(bookieId));
  const judgement = judgeReplacement(answer, { before: from, replication: quorums, barred: ids });
  if (judgement.kind === "ensemble") expect(judgement).toBe(answer);
  return judgement.kind === "ensemble" ? "followed" : judgement.reason;
}

describe("one answer", () => {
  test("is followed if it is legal, or breaks nothing that was not broken", () => {
    expect(judged(["a.3", "b.1", "a.2", "b.2"])).toBe("followed");
    const illegal = named(cloud, "a.1", "a.2", "a.3", "b.1");
    expect(judged(["a.1", "a.2", "a.3", "b.2"], [], sizes, illegal)).toBe("followed");
  });

  test("not if a write set would span fewer regions, that is named with its regions", () => {
    expect(judged(["a.1", "a.3", "a.2", "b.2"])).toBe(
      "placement is at fault: in the write set of positions 0, 1, 2, 3 (a 3, b 1) an ack quorum of 3 can " +
        "lie in 1 known regions, 2 are wanted; it was 2 before",
    );
  });

  test("not if it brings in a bookie that is barred; one that merely stays is no news", () => {
    expect(judged(["a.3", "b.1", "a.2", "b.2"], ["a.3"])).toContain("a.3 may not be used in this ledger");
    expect(judged(["a.3", "b.1", "a.2", "b.2"], ["b.1", "a.1"])).toBe("followed");
  });

  test("not if it moves a member, names one twice, or has one too few", () => {
    expect(judged(["b.1", "a.1", "a.2", "b.2"])).toContain("b.1 was moved to position 0");
    expect(judged(["a.3", "b.1", "a.3", "b.2"])).toContain("a.3 stands at two positions");
    expect(judged(["a.3", "b.1", "a.2"])).toContain("an ensemble of 4 has 3 members");
  });

  test("not if some write set could never be acknowledged, though it was no better before", () => {
    const hopeless = named(cloud, "a.1", "a.2");
    expect(judged(["a.1", "a.3"], [], replication("2/2/2 m2"), hopeless)).toContain("never be acknowledged");
  });
});

test("recovery follows no policy that would leave a write set in fewer regions (rule 11)", async () => {
  const bookies = ["A0@a", "B0@b", "B1@b", "A1@a", "A2@a"];
  const w = await World.make({ bookies, quorums: [4, 4, 3], minRegions: 2 });
  await w.writer();
  const ledger = await w.ledger();
  if (ledger.state !== "OPEN") throw new Error("not open");
  const ports = w.ports("R");
  const weakening: Placement = {
    ...ports.placement,
    replaceBookies: (request) => {
      const { ensemble } = request.fragment;
      const spare = w.addresses.find(({ id }) => id === "A2");
      return {
        kind: "ensemble",
        ensemble: ensemble.map((member) => (member.id === "B0" ? (spare ?? member) : member)),
      };
    },
  };
  const writeBack = new WriteBack(
    { ...ports, placement: weakening },
    { ...ledger, state: "IN_RECOVERY" as const },
  );
  for (const target of ["B0", "B1"]) w.faults.fail({ client: "R", target, call: "recoveryAdd" });
  const error = await w.run(writeBack.hold([sealed(w, { entry: 0 })])).catch((reason) => reason);
  expect(error).toMatchObject({ code: "insufficient_regions", sideEffects: "possible" });
  expect(error.message).toContain("placement is at fault: in the write set of positions 0, 1, 2, 3");
  expect(await slots(w, 0, "A2")).toBe("nothing");
  expect(writeBack.localFragments).toHaveLength(1);
});
