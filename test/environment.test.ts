/** The variables that the infrastructure writes and the functions read (EV1, EV2). */
import { describe, expect, it } from "vitest";
import {
  type BookieSettings,
  bookieVariables,
  type RegionSettings,
  readBookieSettings,
  readRegionSettings,
  regionVariables,
  storageOf,
} from "../lib/environment.ts";
import { EnvironmentError } from "../lib/given-variables.ts";

const settings: RegionSettings = {
  deployment: "glog",
  logLevel: "WARN",
  regions: [
    { region: "eu-west-1", appendFunction: "glog-append" },
    { region: "eu-west-2", appendFunction: "glog-append" },
  ],
  bookies: [{ id: "eu-west-1.b1~q7", region: "eu-west-1", rack: "euw1-az1", functionName: "glog-bookie-b1" }],
  metadata: { table: "glog-metadata", mode: "home", homeRegion: "eu-west-1", replicas: ["eu-west-1"] },
  leaseTable: "glog-leases",
  inboxTable: "glog-inbox",
  defaultReplication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
  reads: "buffered",
  allowedOrigins: [],
};
const bookie: BookieSettings = {
  deployment: "glog",
  logLevel: "INFO",
  bookieId: "eu-west-1.b1~q7",
  bucket: "glog-b1-q7",
  access: "read",
  storageClass: "STANDARD_IA",
};

describe("the environment of the functions", () => {
  it("EV1: what is written is what is read", () => {
    expect(readRegionSettings(regionVariables(settings))).toEqual(settings);
    const strong = { table: "m", mode: "strong", replicas: ["a", "b"], witnessRegion: "c" } as const;
    const allowedOrigins = ["https://app.example", "http://localhost:5173"];
    const other = { ...settings, metadata: strong, allowedOrigins };
    expect(readRegionSettings(regionVariables(other))).toEqual(other);
    expect(readBookieSettings(bookieVariables(bookie))).toEqual(bookie);
  });

  it("EV1: what would not be read is not written", () => {
    const noHome = { ...settings, metadata: { ...settings.metadata, homeRegion: "" } };
    expect(() => regionVariables(noHome)).toThrow(EnvironmentError);
    expect(() => regionVariables({ ...settings, bookies: [] })).toThrow("FENCELINE_BOOKIES");
    expect(() => bookieVariables({ ...bookie, bookieId: "b1" })).toThrow("region.name~storage");
    const all = { ...bookie, access: "all" as BookieSettings["access"] };
    expect(() => bookieVariables(all)).toThrow("FENCELINE_ACCESS");
    const glacier = { ...bookie, storageClass: "GLACIER" as BookieSettings["storageClass"] };
    expect(() => bookieVariables(glacier)).toThrow("FENCELINE_STORAGE_CLASS");
  });

  it.each([
    ["FENCELINE_DEPLOYMENT", undefined, "is not set"],
    ["FENCELINE_LOG_LEVEL", "loud", "DEBUG, INFO, WARN, ERROR"],
    ["FENCELINE_REGIONS", "[]", "rows of 2 texts"],
    ["FENCELINE_REGIONS", '[["eu-west-1"]]', "rows of 2 texts"],
    ["FENCELINE_BOOKIES", "{", "JSON"],
    ["FENCELINE_BOOKIES", '[["b1","eu-west-1","r","f"]]', "region.name~storage"],
    ["FENCELINE_METADATA", '{"table":"m","mode":"eventual","replicas":["a"]}', "mode strong or home"],
    ["FENCELINE_METADATA", '{"table":"m","mode":"strong","replicas":[]}', "one replica or more"],
    ["FENCELINE_METADATA", '{"table":"m","mode":"home","replicas":["a"]}', "homeRegion in mode home"],
    ["FENCELINE_METADATA", '{"table":"m","mode":"strong","homeRegion":"a","replicas":["a"]}', "only there"],
    ["FENCELINE_DEFAULT_REPLICATION", '{"ensembleSize":0}', "ensembleSize to be an integer from 1 on"],
    ["FENCELINE_LEASE_TABLE", "", "not empty"],
    ["FENCELINE_READS", "often", "one of buffered, stream"],
  ])("EV2: %s = %s is refused, with what is allowed", (name, value, words) => {
    const given = { ...regionVariables(settings), [name]: value };
    expect(() => readRegionSettings(given)).toThrow(EnvironmentError);
    expect(() => readRegionSettings(given)).toThrow(name === "FENCELINE_BOOKIES" ? words : name);
    expect(() => readRegionSettings(given)).toThrow(words);
  });

  it("six regions of three bookies fit what Lambda allows", () => {
    const regions = Array.from({ length: 6 }, (_, index) => ({
      region: `ap-northeast-${index}`,
      appendFunction: "glog-append",
    }));
    const bookies = regions.flatMap(({ region }) =>
      ["b1", "b2", "b3"].map((name) => ({
        id: `${region}.${name}~0123456789abcdef`,
        region,
        rack: "apne1-az1",
        functionName: `glog-bookie-${name}`,
      })),
    );
    expect(JSON.stringify(regionVariables({ ...settings, regions, bookies })).length).toBeLessThan(4_096);
  });

  it("rule 21: the storage's identity is in the bookie's id", () => {
    expect(storageOf("eu-west-1.b1~q7")).toBe("q7");
    for (const id of ["eu-west-1.b1", "~q7", "b1~", "a~b~c"])
      expect(() => storageOf(id)).toThrow(EnvironmentError);
  });
});
