/** `fenceline placement`: admission and placement on topologies that need not exist. */
import { describe, expect, test } from "vitest";
import { run } from "./run-command.ts";

const THREE_OF_TWENTY = "us-east-1:20,us-east-2:20,us-west-2:20";

/** "15/15/9 m2" on a topology. */
function placement(verb: "check" | "place", sizes: string, topology: string, ...more: string[]) {
  const [ensemble = "", writeQuorum = "", ackQuorum = "", minRegions = ""] = sizes.split(/[/ m]+/);
  const quorums = ["--ensemble", ensemble, "--write-quorum", writeQuorum, "--ack-quorum", ackQuorum];
  return run(["placement", verb, ...quorums, "--min-regions", minRegions, "--topology", topology, ...more]);
}

const regionsOf = (bookies: readonly string[]) =>
  bookies.reduce<Record<string, number>>((counts, id) => {
    const name = id.split(".")[0] ?? "";
    return Object.assign(counts, { [name]: (counts[name] ?? 0) + 1 });
  }, {});

describe("check", () => {
  test("three regions of twenty, 15/15 and two regions: 8 is refused with at least 9, 9 is accepted", async () => {
    const refused = await placement("check", "15/15/8 m2", THREE_OF_TWENTY, "--json");
    expect([refused.code, refused.err]).toEqual([3, ""]);
    expect(JSON.parse(refused.out)).toEqual({
      accepted: false,
      smallest_ack_quorum: 9,
      reason: expect.stringContaining("it must be at least 9"),
      warnings: [],
      change: ["ack_quorum"],
    });
    const accepted = await placement("check", "15/15/9 m2", THREE_OF_TWENTY, "--json");
    expect([accepted.code, accepted.err]).toEqual([0, ""]);
    expect(JSON.parse(accepted.out)).toMatchObject({
      accepted: true,
      smallest_ack_quorum: 9,
      reason: null,
      warnings: [],
      availability: { degraded_ack_quorum_min: 9, one_loss_ack_quorum_max: 10, losses_in_place: 1 },
    });
  });

  test("in words: the smallest ack quorum, what a loss does, survivors that could not host the log", async () => {
    const accepted = await placement("check", "6/6/4 m2", "a:2,b:2,c:2");
    expect(accepted.code).toBe(0);
    expect(accepted.out).toMatch(
      /^accepted: the smallest legal ack quorum is 4\nwrites go on in place when any one region is lost\nwarning: 3 of 3 /,
    );
    expect((await placement("check", "4/4/3 m2", "a:2,b:2,c:2")).out).toContain("can stall writes");
    const refused = await placement("check", "4/4/2 m2", "a:2,b:2,c:2");
    expect([refused.code, refused.err]).toEqual([3, ""]);
    expect(refused.out).toMatch(/^refused: --ack-quorum is 2; .* at least 3/);
  });

  test("no ack quorum at all: no smallest one, and what must change", async () => {
    const refused = await placement("check", "3/2/2 m3", "a:2,b:2,c:2", "--output", "json");
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.out)).toMatchObject({ accepted: false, smallest_ack_quorum: null });
    expect(JSON.parse(refused.out).change).toContain("write_quorum");
  });
});

describe("place", () => {
  test("with one region down an ensemble of 8 and 7 is placed", async () => {
    for (const down of ["us-east-1", "us-east-2", "us-west-2"]) {
      const placed = await placement("place", "15/15/9 m2", THREE_OF_TWENTY, "--down", down, "--json");
      expect(placed.code).toBe(0);
      const answer = JSON.parse(placed.out);
      const bookies: string[] = answer.ensemble.map((member: { bookie: string }) => member.bookie);
      expect(new Set(bookies).size).toBe(15);
      expect(Object.values(regionsOf(bookies)).sort()).toEqual([7, 8]);
      expect(regionsOf(bookies)).not.toHaveProperty(down);
      expect(answer.write_sets).toEqual([
        { first_entry: 0, bookies, region_counts: { ...answer.region_counts } },
      ]);
    }
  });

  test("a striped ensemble has a write set for each position, each of them in all regions it needs", async () => {
    const placed = await placement("place", "6/4/3 m2", "a:4,b:4,c:4", "--json");
    const { ensemble, write_sets: writeSets } = JSON.parse(placed.out);
    expect(writeSets).toHaveLength(6);
    const ring: string[] = ensemble.map((member: { bookie: string }) => member.bookie);
    writeSets.forEach((set: { bookies: string[]; region_counts: object }, first: number) => {
      expect(set.bookies).toEqual([0, 1, 2, 3].map((step) => ring[(first + step) % 6]));
      expect(set.region_counts).toEqual(regionsOf(set.bookies));
    });
    const text = await placement("place", "6/4/3 m2", "a:4,b:4,c:4");
    expect(text.out).toMatch(/^ensemble \(a 2, b 2, c 2\):\n {5}0 {2}\S+ +\/\w\/r\d\n/);
    expect(text.out.split("\n")).toHaveLength(1 + 6 + 1 + 6 + 1);
  });

  test("refused: by admission, or because too many regions are down", async () => {
    const sizes = await placement("place", "15/15/8 m2", THREE_OF_TWENTY, "--json");
    expect([sizes.code, JSON.parse(sizes.out).smallest_ack_quorum]).toEqual([3, 9]);
    const down = ["--down", "us-east-1", "--down", "us-east-2"];
    const lost = await placement("place", "15/15/9 m2", THREE_OF_TWENTY, ...down);
    expect([lost.code, lost.err]).toEqual([3, ""]);
    expect(lost.out).toContain("refused: an ensemble of 15");
    expect(lost.out).toContain("usable: us-west-2: 20");
  });
});

describe("bad input is no refusal", () => {
  test.each([
    ["no topology at all", "nonsense", '"nonsense" is no region with its bookies'],
    ["an empty one", "", '"" is no region with its bookies'],
    ["a region without bookies", "a:2,b,c:2", '"b" is no region with its bookies'],
    ["a comma too many", "a:2,", '"" is no region with its bookies'],
    ["no region name", ":3", '":3" is no region with its bookies'],
    ["no racks", "b:2,a:3/0", '"a:3/0" is no region with its bookies'],
    ["a region that is named twice", "a:2,a:2,b:2", "It names a twice; it is regions with"],
    ["too many bookies", "a:60000,b:60000", "It has 120000 bookies; it is regions with"],
  ])("%s", async (_, topology, complaint) => {
    const answer = await placement("check", "2/2/2 m2", topology);
    expect([answer.code, answer.out]).toEqual([2, ""]);
    expect(answer.err).toContain(complaint);
    expect(answer.err).toContain("such as us-east-1:20");
  });

  test("a region that is down and not there; a size that is no number; one that is missing", async () => {
    const strange = await placement("place", "2/2/2 m2", "a:2,b:2", "--down", "c");
    expect([strange.code, strange.out]).toEqual([2, ""]);
    expect(strange.err).toContain(
      "--down c is no region of the topology, which has a, b; give --down once for each region",
    );
    for (const size of ["x", "1e1", "2.5"]) {
      const odd = await placement("check", `2/${size}/2 m2`, "a:2,b:2");
      expect([odd.code, odd.out]).toEqual([2, ""]);
      expect(odd.err).toContain(`'${size}' is invalid. It is a whole number from 1 to 60.`);
    }
    expect((await run(["placement", "check", "--ensemble", "3"])).code).toBe(2);
  });

  test.each([
    ["--ensemble", "0", "--ensemble is 0; it must be a whole number from 1 to 60"],
    ["--ensemble", "-3", "--ensemble is -3; it must be a whole number from 1 to 60"],
    ["--write-quorum", "61", "--write-quorum is 61; it must be a whole number from 1 to 60"],
    ["--min-regions", "0", "--min-regions is 0; it must be a whole number from 1 to 60"],
    ["--write-quorum", "5", "--ensemble 4 is below --write-quorum 5"],
    [
      "--ack-quorum",
      "5",
      "--ack-quorum is 5; with --ensemble 4, --write-quorum 4 and --min-regions 2 it must be",
    ],
    ["--ack-quorum", "-1", "--ack-quorum is -1; with"],
    ["--min-regions", "4", "--min-regions 4 is more than the 3 regions of the topology (a: 2, b: 2, c: 2)"],
  ])("%s %s is a size, and admission says what is wrong with it", async (option, value, reason) => {
    const sizes = { "--ensemble": "4", "--write-quorum": "4", "--ack-quorum": "3", "--min-regions": "2" };
    const flags = Object.entries({ ...sizes, [option]: value }).flat();
    const answer = await run(["placement", "check", ...flags, "--topology", "a:2,b:2,c:2", "--json"]);
    expect([answer.code, answer.err]).toEqual([3, ""]);
    const { accepted, reason: said } = JSON.parse(answer.out);
    expect(accepted).toBe(false);
    expect(said).toContain(reason);
  });
});
