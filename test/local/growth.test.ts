/** Regions and bookies added to a cloud that runs: new ledgers spread to them, and a crash leaves nothing half. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProblemError } from "../../lib/client/client-errors.ts";
import { bookiesOfNewRegion, oneMoreBookie } from "../../lib/local/cloud-additions.ts";
import { type CloudFile, REGION_NAMES } from "../../lib/local/cloud-file.ts";
import { Control } from "../../lib/local/control-client.ts";
import { LocalError } from "../../lib/local/local-error.ts";
import { limits } from "../../lib/protocol/limits.ts";
import { run } from "../cli/run-command.ts";
import { HurriedClock } from "./hurried-clock.ts";
import { batchOf, RunningCloud } from "./running-cloud.ts";

/** Members of the first ensemble of the log's last ledger, as `region/rack`. */
async function ensembleOf(running: RunningCloud, log: string, region = "us-east-1"): Promise<string[]> {
  const client = running.client(region);
  const { segments } = await client.segments(log);
  const { fragments } = await client.showLedger(String(segments.at(-1)?.ledger_id));
  return (fragments[0]?.ensemble ?? []).map((member) => `${member.region}/${member.rack}`).sort();
}

/** What a new log of these regions' functions is placed on, once they have read the registry again. */
async function placedAfterRefresh(running: RunningCloud, clock: HurriedClock, region = "us-east-1") {
  clock.leap(limits.registryAgeMaxMs);
  const client = running.client(region);
  // The first question finds the copy old and is answered from it; reading the registry anew follows.
  await client.createLog("asks-the-registry", {});
  const log = `log-${Math.random()}`;
  await client.createLog(log, {});
  await client.append(log, batchOf("a"), "utf8");
  return { log, ensemble: await ensembleOf(running, log, region) };
}

async function cloudFile(running: RunningCloud): Promise<CloudFile> {
  return JSON.parse(await readFile(join(running.dataDir, "cloud.json"), "utf8"));
}

async function setCloudFile(running: RunningCloud, file: CloudFile): Promise<void> {
  await writeFile(join(running.dataDir, "cloud.json"), JSON.stringify(file));
}

const states = async (running: RunningCloud) =>
  (await running.client("us-east-1").regions()).regions.map(({ region, state, bookies }) => [
    region,
    state,
    bookies.length,
  ]);

describe("a region", () => {
  test("is added; old regions place new ledgers in it, and it serves and owns logs", async () => {
    const clock = new HurriedClock(4);
    await using running = await RunningCloud.start({ clock });
    await running.client("us-east-1").createLog("orders", {});
    await running.client("us-east-1").append("orders", batchOf("a"), "utf8");
    const control = await Control.open(running.dataDir);
    const { added, regions } = await control.addRegion("eu-west-1", 2);
    expect(added.map((id) => id.split("~")[0])).toEqual(["eu-west-1.b1", "eu-west-1.b2"]);
    expect(regions.map((one) => one.name)).toEqual(["us-east-1", "us-east-2", "us-west-2", "eu-west-1"]);
    expect(await states(running)).toEqual([
      ["eu-west-1", "accepting", 2],
      ["us-east-1", "accepting", 2],
      ["us-east-2", "accepting", 2],
      ["us-west-2", "accepting", 2],
    ]);
    // Four regions, ensembles of four: one bookie in each.
    const { ensemble } = await placedAfterRefresh(running, clock);
    expect(ensemble.map((place) => place.split("/")[0])).toEqual([
      "eu-west-1",
      "us-east-1",
      "us-east-2",
      "us-west-2",
    ]);
    // The new region forwards to the owner of an old log, and owns one that it is the first to write to.
    await running.client("eu-west-1").append("orders", batchOf("b"), "utf8");
    expect(await running.client("us-west-2").tail("orders")).toMatchObject({ tail: 2, owner: "us-east-1" });
    await running.client("us-west-2").createLog("more", {});
    await running.client("eu-west-1").append("more", batchOf("c"), "utf8");
    expect(await running.client("us-west-2").tail("more")).toMatchObject({ tail: 1, owner: "eu-west-1" });
    const controlFile = JSON.parse(await readFile(join(running.dataDir, "control.json"), "utf8"));
    expect(controlFile.regions.at(-1)).toEqual({ name: "eu-west-1", url: running.url("eu-west-1") });
  }, 40_000);

  test("settles the tails of its logs for readers elsewhere", async () => {
    await using running = await RunningCloud.start({ clock: new HurriedClock(4), traceLevel: "info" });
    await running.cloud.addRegion("eu-west-1", 2);
    const owner = running.client("eu-west-1");
    await owner.createLog("orders", {});
    await owner.append("orders", batchOf("a"), "utf8");
    // The last record is on three bookies of which a reader then finds two: only its owner can confirm it.
    await running.cloud.setRegion("us-east-2", "refusing");
    await owner.append("orders", batchOf("b"), "utf8");
    const gaveUp = () => running.written.some((line) => /"bookie-failed".*"bookie":"us-east-2/.test(line));
    await expect.poll(gaveUp).toBe(true);
    await running.cloud.setRegion("us-east-2", "up");
    await running.cloud.setRegion("us-west-2", "refusing");
    expect(await running.bodies("us-east-1", "orders")).toEqual(["a", "b"]);
    expect((await running.client("us-east-1").tail("orders")).owner).toBe("eu-west-1");
    const settled = running.written.filter((line) => line.includes('"tail-settled"'));
    expect(settled.map((line) => JSON.parse(line).how)).toEqual(["control-entry"]);
  }, 40_000);

  test("is there after a restart, with its data, and the metadata replicas are what they were", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    expect(await running.cloud.addRegion("us-east-2", 3)).toHaveLength(3);
    expect(await running.cloud.addRegion("us-west-2", 2)).toHaveLength(2);
    await running.client("us-east-2").createLog("orders", { preset: "economy" });
    await running.client("us-east-2").append("orders", batchOf("a"), "utf8");
    expect((await cloudFile(running)).replicas).toBe(1);
    for (const again of [false, true]) {
      if (again) {
        await running.stop();
        await running.open();
      }
      const names = running.cloud.regions().map((one) => one.name);
      expect(names).toEqual(["us-east-1", "us-east-2", "us-west-2"]);
      expect(await running.bodies("us-east-1", "orders")).toEqual(["a"]);
      // Two of three regions would do for appends, but metadata has one replica, as when the cloud began.
      const health = await (await fetch(`${running.url("us-east-2")}/v1/health`)).json();
      expect(health).toMatchObject({
        survivable_region_losses: 0,
        detail: expect.stringContaining("of those that metadata does not need (us-east-2, us-west-2)"),
        metadata_replicas: [{ name: "us-east-1", status: "up" }],
      });
    }
    expect(await cloudFile(running)).toMatchObject({ setUp: true, replicas: 1 });
    expect(running.cloud.warnings).toEqual([]);
    await running.stop();
    await expect(running.open({ regions: "1" })).rejects.toThrow(
      /has the regions us-east-1, us-east-2, us-west-2/,
    );
  });

  test("whose port is taken is not added, and can be when the port is free", async () => {
    await using other = await RunningCloud.start({ regions: "1" });
    const taken = Number(new URL(other.url("us-east-1")).port);
    await using running = await RunningCloud.start({ regions: "1", port: taken - 1 });
    await expect(running.cloud.addRegion("b", 2)).rejects.toThrow(
      new RegExp(`port ${taken}, for b, is in use`),
    );
    expect(running.cloud.regions().map((one) => one.name)).toEqual(["us-east-1"]);
    expect((await cloudFile(running)).regions).toEqual(["us-east-1"]);
    expect(await states(running)).toEqual([["us-east-1", "accepting", 2]]);
    await other.stop();
    await running.cloud.addRegion("b", 2);
    expect(running.url("b")).toBe(`http://127.0.0.1:${taken}`);
  });

  test("that cannot be written down is not added", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    const inTheWay = join(running.dataDir, `cloud.json.${process.pid}.tmp`);
    await mkdir(inTheWay);
    await expect(running.cloud.addRegion("b", 1)).rejects.toThrow();
    expect(running.cloud.regions().map((one) => one.name)).toEqual(["us-east-1"]);
    await rm(inTheWay, { recursive: true });
    await running.cloud.addRegion("b", 1);
    expect(running.cloud.regions().map((one) => one.name)).toEqual(["us-east-1", "b"]);
  });

  test("and another are added at once: one after the other", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    const twice = [running.cloud.addRegion("b", 1), running.cloud.addRegion("b", 1)];
    const more = [running.cloud.addRegion("c", 1), running.cloud.addBookie("us-east-1", undefined)];
    const outcomes = await Promise.allSettled([...twice, ...more]);
    expect(outcomes.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(await states(running)).toEqual([
      ["b", "accepting", 1],
      ["c", "accepting", 1],
      ["us-east-1", "accepting", 3],
    ]);
  });
});

describe("a bookie", () => {
  test("is added to a region in a rack of its own; new ledgers come to it", async () => {
    const clock = new HurriedClock(4);
    await using running = await RunningCloud.start({ clock, regions: "2" });
    const sizes = { ensemble_size: 6, write_quorum: 6, ack_quorum: 4, min_regions: 2 };
    const client = running.client("us-east-1");
    const refused = client.createLog("six", { replication: sizes });
    await expect(refused).rejects.toThrow(ProblemError);
    await expect(refused).rejects.toMatchObject({
      problem: { code: "invalid_request", side_effects: "none" },
    });
    const control = await Control.open(running.dataDir);
    for (const region of ["us-east-1", "us-east-2"]) {
      const { added } = await control.addBookie(region, "c");
      expect(added.map((id) => id.split("~")[0])).toEqual([`${region}.b3`]);
    }
    await placedAfterRefresh(running, clock);
    expect(await client.createLog("six", { replication: sizes })).toMatchObject({ created: true });
    await client.append("six", batchOf("a"), "utf8");
    const all = ["us-east-1", "us-east-2"].flatMap((region) =>
      ["a", "b", "c"].map((rack) => `${region}/${rack}`),
    );
    expect(await ensembleOf(running, "six")).toEqual(all);
    await running.stop();
    await running.open();
    expect(await running.bodies("us-east-2", "six")).toEqual(["a"]);
  });

  test("that an operator made read-only gets nothing new, also after a restart", async () => {
    const clock = new HurriedClock(4);
    await using running = await RunningCloud.start({ clock });
    const client = running.client("us-west-2");
    const { regions } = await client.regions();
    const [spared] = regions.find((one) => one.region === "us-east-1")?.bookies ?? [];
    await client.setBookieState("us-east-1", spared?.bookie ?? "", "read-only");
    const spread = `us-east-1/${spared?.rack}`;
    for (let log = 0; log < 6; log++) {
      expect((await placedAfterRefresh(running, clock)).ensemble).not.toContain(spread);
    }
    for (const log of ["later", "later-still"]) await client.createLog(log, {});
    await running.stop();
    await running.open({ clock: new HurriedClock(4) });
    // The first ledgers of the new functions, asked for before anything else.
    for (const [log, at] of [
      ["later", "us-east-1"],
      ["later-still", "us-west-2"],
    ] as const) {
      await running.client(at).append(log, batchOf("a"), "utf8");
      expect(await ensembleOf(running, log)).not.toContain(spread);
    }
    const [again] = (await running.client("us-east-1").regions()).regions;
    expect(again?.bookies.map((one) => one.state).sort()).toEqual(["read-only", "writable"]);
  }, 40_000);
});

test("a drained region gets no new ledgers, and what it holds stays readable", async () => {
  const clock = new HurriedClock(4);
  await using running = await RunningCloud.start({ clock });
  const before = await placedAfterRefresh(running, clock);
  await running.client("us-west-2").setRegionState("us-east-2", "draining");
  for (const at of ["us-east-1", "us-east-2", "us-west-2"]) {
    const { ensemble } = await placedAfterRefresh(running, clock, at);
    expect(ensemble).toEqual(["us-east-1/a", "us-east-1/b", "us-west-2/a", "us-west-2/b"]);
  }
  expect(await running.bodies("us-east-2", before.log)).toEqual(["a"]);
  await running.client("us-east-2").setRegionState("us-east-2", "accepting");
  const { ensemble } = await placedAfterRefresh(running, clock);
  expect(ensemble.filter((place) => place.startsWith("us-east-2"))).not.toEqual([]);
}, 40_000);

describe("a crash in the middle of an addition", () => {
  const record = { region: "us-east-1", name: "b3", rack: "c", storage: "00ff" } as const;

  test.each(["before its storage exists", "after its storage was set up"])(
    "%s: the next start completes it",
    async (when) => {
      await using running = await RunningCloud.start({ regions: "1" });
      if (when.startsWith("after")) {
        // What it was before the last of the three steps: everything but the word that it is set up.
        await running.cloud.addBookie("us-east-1", "c");
        await running.stop();
        const file = await cloudFile(running);
        const bookies = file.bookies.map((one) => (one.name === "b3" ? { ...one, new: true as const } : one));
        await setCloudFile(running, { ...file, bookies });
      } else {
        await running.stop();
        const file = await cloudFile(running);
        await setCloudFile(running, { ...file, bookies: [...file.bookies, { ...record, new: true }] });
      }
      await running.open();
      expect(running.cloud.warnings).toEqual([]);
      expect(await states(running)).toEqual([["us-east-1", "accepting", 3]]);
      const file = await cloudFile(running);
      expect(file.bookies.filter((one) => one.new)).toEqual([]);
      const stores = await readdir(join(running.dataDir, "regions", "us-east-1"));
      expect(stores.filter((name) => name !== "leases")).toHaveLength(3);
    },
  );

  test("so does the next start after an addition that failed, whatever was added since", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    const inTheWay = join(running.dataDir, "regions", "b");
    await writeFile(inTheWay, "");
    await expect(running.cloud.addRegion("b", 2)).rejects.toThrow();
    expect(await states(running)).toEqual([["us-east-1", "accepting", 2]]);
    await running.cloud.addBookie("us-east-1", "c");
    const pending = (await cloudFile(running)).bookies.filter((one) => one.new);
    expect(pending.map((one) => `${one.region}.${one.name}`)).toEqual(["b.b1", "b.b2"]);
    await running.stop();
    await rm(inTheWay);
    await running.open();
    expect(running.cloud.warnings).toEqual([]);
    expect(await states(running)).toEqual([
      ["b", "accepting", 2],
      ["us-east-1", "accepting", 3],
    ]);
  });

  test("rule 21: storage that was set up once and is gone gets no marker, also among additions", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    const [id = ""] = await running.cloud.addBookie("us-east-1", "c");
    await running.stop();
    await rm(join(running.dataDir, "regions", "us-east-1", id.replace("us-east-1.", "")), {
      recursive: true,
    });
    await running.open();
    expect(running.cloud.warnings[0]).toContain(id);
    await running.cloud.addBookie("us-east-1", "d");
    expect(running.cloud.warnings[0]).toContain(id);
    await running.stop();
    await running.open();
    expect(running.cloud.warnings[0]).toContain(id);
  });
});

describe("what cannot be added is told", () => {
  const random = { uint32: () => 7 };
  const of = (region: string, racks: readonly string[]) =>
    racks.map((rack, index) => ({ region, name: `b${index + 1}`, rack, storage: `${region}${index}` }));
  const file = (regions: readonly string[], racks: readonly string[] = ["a", "b"]): CloudFile => ({
    format: 1,
    regions,
    bookies: regions.flatMap((name) => of(name, racks)),
    setUp: true,
  });

  test.each([
    ["a", 2, /there is a region a already.*bookie add a/],
    ["A", 2, /no region name/],
    ["../x", 2, /no region name/],
    ["b", 0, /1 to 20 are possible/],
    ["b", 21, /1 to 20 are possible/],
    ["b", Number.NaN, /1 to 20 are possible/],
  ])("region %s with %d bookies", (name, count, why) => {
    const add = () => bookiesOfNewRegion(file(["a"]), name, count, random);
    expect(add).toThrow(LocalError);
    expect(add).toThrow(why);
  });

  test("a tenth region", () => {
    expect(() => bookiesOfNewRegion(file(REGION_NAMES), "x", 2, random)).toThrow(/at most 9/);
  });

  test("a bookie of no region, in no rack, or one too many", () => {
    expect(() => oneMoreBookie(file(["a"]), "b", "c", random)).toThrow(/no region b; there are a/);
    expect(() => oneMoreBookie(file(["a"]), "a", "a/b", random)).toThrow(/no rack name/);
    const full = file(
      ["a"],
      Array.from({ length: 20 }, () => "a"),
    );
    expect(() => oneMoreBookie(full, "a", undefined, random)).toThrow(/would have 21 bookies/);
  });

  test("without a rack a bookie goes where fewest are", () => {
    expect(oneMoreBookie(file(["x"], ["a", "b"]), "x", undefined, random)).toMatchObject({
      name: "b3",
      rack: "a",
    });
    expect(oneMoreBookie(file(["x"], ["a", "a", "b"]), "x", undefined, random).rack).toBe("b");
    expect(oneMoreBookie(file(["x"], ["a", "a", "b", "b", "c"]), "x", undefined, random).rack).toBe("c");
  });

  test("as a user types it: what was added is said, and what cannot be is a matter of usage", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    const local = (line: string) => run(["local", ...line.split(" "), "--data", running.dataDir]);
    const region = await local("region b add --bookies 3");
    expect([region.code, region.err]).toEqual([0, ""]);
    expect(region.out).toMatch(
      /^us-east-1 +up +http.*\nb +up +http.*\nb has b\.b1~\w+, b\.b2~\w+, b\.b3~\w+; /,
    );
    const bookie = await local("bookie add b --rack c --output json");
    expect(JSON.parse(bookie.out)).toEqual({ added: [expect.stringMatching(/^b\.b4~/)] });
    const [added] = (await running.client("b").regions()).regions;
    expect(added?.bookies.map((one) => one.rack)).toEqual(["a", "b", "a", "c"]);
    for (const wrong of ["region b add", "region c add --bookies 21", "bookie add b --rack C"]) {
      expect(await local(wrong)).toMatchObject({ code: 2, out: "" });
    }
    for (const nowhere of ["bookie add d", "region d down", "bookie down d"]) {
      const { code, err } = await local(nowhere);
      expect([code, err]).toEqual([4, expect.stringMatching(/there is no (bookie and no )?region d/)]);
    }
    expect(running.cloud.regions()).toHaveLength(2);
  });

  test("the control endpoint says so, too", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    const control = await Control.open(running.dataDir);
    await expect(control.addRegion("us-east-1", 2)).rejects.toThrow(/there is a region us-east-1 already/);
    await expect(control.addBookie("mars")).rejects.toThrow(/there is no region mars/);
    await expect(control.addRegion("b", Number.NaN)).rejects.toThrow(LocalError);
  });
});
