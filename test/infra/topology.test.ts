/** Topologies that are refused before there is a construct, with what is allowed and what to do. */
import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { environmentSize } from "../../lib/infra/topology/environment-size.ts";
import { readTopology, TopologyError } from "../../lib/infra/topology/read-topology.ts";
import { nearestFirst, regionSets, zonePrefix } from "../../lib/infra/topology/region-sets.ts";
import { storageClassWarnings } from "../../lib/infra/topology/storage-class.ts";
import { survivableLosses } from "../../lib/infra/topology/survivable-losses.ts";
import type { Topology } from "../../lib/infra/topology/topology.ts";
import { five, home, parsed, strong, topologyOf, withWitness } from "./topologies.ts";

/** Loose on purpose: what tests spoil is no topology any more. */
// biome-ignore lint/suspicious/noExplicitAny: a file's JSON, about to be spoilt
function spoilt(count: number, metadata: Topology["metadata"], spoil: (topology: any) => void): unknown {
  const topology = structuredClone(topologyOf(count, metadata));
  spoil(topology);
  return topology;
}

function refusal(topology: unknown): string {
  try {
    parsed(topology);
  } catch (error) {
    expect(error).toBeInstanceOf(TopologyError);
    return (error as Error).message;
  }
  throw new Error("it was accepted");
}

describe("a topology", () => {
  test("the repository's own is one", () => {
    const topology = readTopology("topology.json");
    expect(topology.regions.map(({ name }) => name)).toEqual(["us-east-1", "us-east-2", "us-west-2"]);
  });

  it.each([
    [1, strong],
    [2, withWitness],
    [3, strong],
    [5, strong],
    [1, home],
    [5, home],
  ] as const)("%i regions in mode %j are legal", (count, metadata) => {
    expect(parsed(topologyOf(count, metadata)).regions).toHaveLength(count);
  });

  it.each([
    [
      "a mode that there is not",
      spoilt(3, strong, (t) => (t.metadata.mode = "eventual")),
      "'strong' | 'home'",
    ],
    ["a key that means nothing", spoilt(3, strong, (t) => (t.colour = 1)), 'Unrecognized key: "colour"'],
    ["a region twice", spoilt(3, strong, (t) => t.regions.push(t.regions[0])), "us-east-1 is named twice"],
    [
      "a bookie twice",
      spoilt(3, strong, (t) => (t.regions[0].bookies[1].name = "b1")),
      "bookies of us-east-1: b1 is named twice",
    ],
    [
      "a bucket for two bookies (rule 21)",
      spoilt(3, strong, (t) => (t.regions[0].bookies[1].storage = "store1b1")),
      "storage: store1b1 is named twice",
    ],
    [
      "a bookie without its bucket's identity (rule 21)",
      spoilt(3, strong, (t) => delete t.regions[2].bookies[0].storage),
      'regions[2].bookies[0].storage: is the identity of a bucket that is made for this bookie alone; take a new one: "storage": "',
    ],
    [
      "a rack elsewhere",
      spoilt(3, strong, (t) => (t.regions[0].bookies[0].rack = "usw2-az1")),
      "bookie b1 stands in usw2-az1, which is no zone of it; its zones are use1-az1",
    ],
    [
      "a storage class that there is not",
      spoilt(3, strong, (t) => (t.storageClass = "CHEAP")),
      'storageClass: must be one of STANDARD, INTELLIGENT_TIERING, STANDARD_IA, got "CHEAP"',
    ],
    [
      "a retention that CloudWatch has not",
      spoilt(3, strong, (t) => (t.retentionDays = 31)),
      "is one of 1, 3, 5",
    ],
    [
      "an origin with a path",
      spoilt(3, strong, (t) => (t.allowedOrigins = ["https://app.example/"])),
      "is no origin as browsers write it, such as https://app.example",
    ],
    [
      "all origins",
      spoilt(3, strong, (t) => (t.allowedOrigins = ["*"])),
      "is no origin as browsers write it",
    ],
    [
      "a preset that there is not",
      spoilt(3, strong, (t) => (t.presets = ["best"])),
      "neither a preset's name nor",
    ],
    [
      "sizes that admission refuses, with the smallest legal ack quorum",
      spoilt(3, strong, (t) => {
        t.presets = [{ ensembleSize: 4, writeQuorum: 4, ackQuorum: 2, minRegions: 2 }];
      }),
      "must be at least 3 and at most 4",
    ],
    [
      "a preset that needs more regions",
      spoilt(1, strong, (t) => (t.presets = ["standard"])),
      "minRegions 2 is more than the 1 regions",
    ],
    [
      "two replicas and no witness",
      spoilt(3, strong, (t) => t.metadata.replicas.pop()),
      "takes exactly 3 without a witness",
    ],
    [
      "four replicas",
      spoilt(5, strong, (t) => (t.metadata.replicas = [...five.slice(0, 3), "eu-west-1"])),
      "takes exactly 3",
    ],
    [
      "three replicas and a witness",
      spoilt(3, withWitness, (t) => t.metadata.replicas.push("us-east-2")),
      "takes exactly 2 beside the witness us-east-2",
    ],
    [
      "replicas on two continents",
      spoilt(5, strong, (t) => (t.metadata.replicas[2] = "eu-west-1")),
      "span several region sets",
    ],
    [
      "a replica where there can be none",
      spoilt(3, strong, (t) => (t.metadata.replicas[2] = "sa-east-1")),
      "sa-east-1 can hold no strongly consistent replica",
    ],
    [
      "more bookies than Lambda lets a function be told of",
      spoilt(3, strong, (t) => {
        t.regions[0].bookies = Array.from({ length: 80 }, (_, n) => ({
          name: `b${n}`,
          rack: "use1-az1",
          storage: `many${String(n).padStart(4, "0")}`,
        }));
      }),
      "84 bookies take",
    ],
    [
      "its own table as a restored one",
      spoilt(3, strong, (t) => (t.restored = { table: "glog-metadata", region: "us-east-1" })),
      "restored.table glog-metadata is the deployment's own table",
    ],
    [
      "a restored table of mode home that is not in the home",
      spoilt(3, home, (t) => (t.restored = { table: "glog-restored", region: "us-west-2" })),
      "in mode home restore in the home, us-east-1",
    ],
    ["a home elsewhere", spoilt(3, home, (t) => (t.metadata.home = "eu-west-3")), "is none of the regions"],
    ["a witness in mode home", spoilt(3, home, (t) => (t.metadata.witness = "us-east-2")), "witness"],
    [
      "the home as its own replica",
      spoilt(3, home, (t) => t.metadata.replicas.push("us-east-1")),
      "names the home us-east-1",
    ],
  ])("with %s is refused", (_, topology, words) => {
    expect(refusal(topology)).toContain(words);
  });

  test("all that is wrong is told at once", () => {
    const topology = spoilt(3, strong, (t) => {
      t.regions[0].bookies[0].rack = "usw2-az1";
      t.metadata.replicas.pop();
      t.presets = ["standard", { ensembleSize: 2, writeQuorum: 2, ackQuorum: 1, minRegions: 2 }];
    });
    expect(refusal(topology).split("\n")).toHaveLength(4);
  });

  test("a file that is not there, or no JSON, is told by its name", () => {
    expect(() => readTopology("nowhere.json")).toThrow("nowhere.json cannot be read");
    expect(() => readTopology("README.md")).toThrow("README.md is no topology to deploy:\n  - is no JSON");
  });
});

describe("how entries are kept", () => {
  test.each([
    ["GLACIER", "restored for hours"],
    ["DEEP_ARCHIVE", "restored for hours"],
    ["GLACIER_IR", "a put costs four times"],
    ["ONEZONE_IA", "racks would not tell"],
    ["EXPRESS_ONEZONE", "list in no order"],
    ["REDUCED_REDUNDANCY", "loses objects"],
  ])("%s is refused with the reason, and with what is allowed", (name, why) => {
    const said = refusal(spoilt(3, strong, (t) => (t.storageClass = name)));
    expect(said).toContain(`storageClass: ${name} does not fit: `);
    expect(said).toContain(why);
    expect(said).toContain("must be one of STANDARD, INTELLIGENT_TIERING, STANDARD_IA");
  });

  test.each([
    ["STANDARD", []],
    ["INTELLIGENT_TIERING", ["under 128 KB", "archive tiers"]],
    ["STANDARD_IA", ["as 128 KB", "30 days"]],
  ] as const)("%s is accepted, and says what it costs whom: %j", (storageClass, words) => {
    const topology = parsed({ ...topologyOf(3, strong), storageClass });
    const warnings = storageClassWarnings(topology);
    expect(warnings).toHaveLength(words.length === 0 ? 0 : 1);
    for (const word of words) expect(warnings.join()).toContain(word);
  });
});

describe("what Lambda lets a function be told", () => {
  const withBookies = (count: number, namePrefix: string) =>
    spoilt(3, strong, (t) => {
      t.namePrefix = namePrefix;
      for (const region of t.regions) region.bookies = [];
      for (let n = 0; n < count; n++) {
        const region = t.regions[n % 3];
        region.bookies.push({
          name: `b${region.bookies.length + 1}`,
          rack: `${zonePrefix(region.name)}-az${1 + (n % 6)}`,
          storage: String(10_000_000 + n),
        });
      }
    });
  const fitted = (namePrefix: string): number => {
    const accepts = (count: number) => {
      const { words } = environmentSize(withBookies(count, namePrefix) as Topology) ?? { words: "" };
      try {
        parsed(withBookies(count, namePrefix));
        return true;
      } catch (error) {
        expect(String(error)).toContain(words);
        return false;
      }
    };
    for (let count = 12; ; count++) if (!accepts(count)) return count - 1;
  };

  it.each(["abc", "fenceline", "abcdefghijklmnop"])(
    "bookies fit as %s says, as many as the manual says",
    (prefix) => {
      const [, low, high] =
        /Between (\d+) and (\d+) bookies fit/.exec(readFileSync("docs/OPERATING.md", "utf8")) ?? [];
      const count = fitted(prefix);
      expect(count).toBeGreaterThanOrEqual(Number(low));
      expect(count).toBeLessThanOrEqual(Number(high));
      const { words, fits } = environmentSize(withBookies(count, prefix) as Topology) ?? {};
      expect(fits).toBe(true);
      expect(words).toContain(`some ${count} fit`);
    },
  );
});

describe("survivable losses", () => {
  const lossesOf = (topology: Topology) => survivableLosses(topology).map(({ regions }) => regions);

  it.each([
    [1, strong, [0]],
    [2, withWitness, [0, 0]],
    [3, strong, [1, 1]],
    [5, strong, [1, 1]],
    [5, home, [0, 0]],
  ] as const)(
    "%i regions in mode %j: min(R - minRegions, what the mode survives)",
    (count, metadata, losses) => {
      expect(lossesOf(topologyOf(count, metadata))).toEqual(losses);
    },
  );

  test("mode home says which loss is not survived", () => {
    const [standard] = survivableLosses(topologyOf(5, home));
    expect(standard?.words).toContain("any 3 regions other than the home us-east-1 may be lost");
    expect(standard?.words).toContain("without the home nothing goes on");
  });

  test("survivors that could not host a log are named", () => {
    const lopsided = topologyOf(3, strong);
    const [first, ...rest] = lopsided.regions;
    const topology = { ...lopsided, regions: [{ ...first, bookies: first?.bookies.slice(0, 1) }, ...rest] };
    const [standard] = survivableLosses(topology as Topology);
    expect(standard?.warnings.join()).toContain("us-east-1 and us-east-2");
  });
});

describe("regions", () => {
  it.each([
    ["us-east-1", "use1"],
    ["eu-central-1", "euc1"],
    ["ap-northeast-3", "apne3"],
    ["us-gov-west-1", "usgw1"],
    ["ap-southeast-2", "apse2"],
  ])("zones of %s begin with %s", (region, prefix) => {
    expect(zonePrefix(region)).toBe(prefix);
  });

  test("region sets have three or four regions, each in one set", () => {
    expect(regionSets.map((set) => set.length)).toEqual([3, 4, 3]);
    expect(new Set(regionSets.flat()).size).toBe(10);
  });

  test("the nearest replica comes first: one's own, then the continent's, then as listed", () => {
    expect(nearestFirst("eu-west-1", ["us-east-1", "eu-central-1", "us-west-2"])[0]).toBe("eu-central-1");
    expect(nearestFirst("us-west-2", ["us-east-1", "us-east-2", "us-west-2"])).toEqual([
      "us-west-2",
      "us-east-1",
      "us-east-2",
    ]);
  });
});
