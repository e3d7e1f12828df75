/** The embedded cloud in one process: its regions, its directory, its ports. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseRegions } from "../../lib/local/cloud-file.ts";
import { readControlFile } from "../../lib/local/control-file.ts";
import { EmbeddedCloud } from "../../lib/local/embedded-cloud.ts";
import { LocalError } from "../../lib/local/local-error.ts";
import { batchOf, RunningCloud } from "./running-cloud.ts";

describe("regions", () => {
  test("are three by default; what goes in through one comes out through another", async () => {
    await using running = await RunningCloud.start();
    expect(running.cloud.regions().map((one) => [one.name, one.state])).toEqual([
      ["us-east-1", "up"],
      ["us-east-2", "up"],
      ["us-west-2", "up"],
    ]);
    expect(running.cloud.presetText).toBe(
      'new logs are "standard": 4 bookies, acknowledged by 3 in 2 regions',
    );
    expect(running.cloud.warnings).toEqual([]);
    await running.client("us-east-2").createLog("orders/eu", {});
    const ack = await running.client("us-east-1").append("orders/eu", batchOf("a", "b"), "utf8");
    expect(ack).toMatchObject({ start: { seq_num: 0 }, end: 2 });
    expect(ack.durable_in?.length).toBeGreaterThanOrEqual(2);
    expect(await running.bodies("us-west-2", "orders/eu")).toEqual(["a", "b"]);
    expect(await running.client("us-west-2").tail("orders/eu")).toEqual({
      tail: 2,
      up_to_date: true,
      sealed: false,
      owner: "us-east-1",
    });
  });

  test("trim, seal and delete through one, and all of them know", async () => {
    await using running = await RunningCloud.start();
    const [east, other, west] = ["us-east-1", "us-east-2", "us-west-2"].map((name) => running.client(name));
    await east?.createLog("orders", {});
    await east?.append("orders", batchOf("a", "b", "c"), "utf8");
    expect(await other?.trim("orders", 2)).toEqual({ log: "orders", first_seq_num: 2 });
    await expect(west?.trim("orders", 4)).rejects.toMatchObject({ code: "position_unwritten" });
    expect(await west?.seal("orders")).toEqual({ log: "orders", sealed: true, tail: 3 });
    await expect(east?.append("orders", batchOf("d"), "utf8")).rejects.toMatchObject({ code: "log_sealed" });
    expect(await east?.tail("orders")).toEqual({ tail: 3, up_to_date: true, sealed: true });
    expect(await other?.deleteLog("orders")).toEqual({ log: "orders", state: "deleted" });
    await expect(west?.tail("orders")).rejects.toMatchObject({ code: "log_not_found" });
    expect(await west?.createLog("orders", {})).toMatchObject({ created: true });
    expect(await east?.append("orders", batchOf("new life"), "utf8")).toMatchObject({
      start: { seq_num: 0 },
    });
    expect(await running.bodies("us-east-2", "orders")).toEqual(["new life"]);
  });

  test("appends that arrive in other regions go to the owner, and nothing is lost", async () => {
    await using running = await RunningCloud.start();
    await running.client("us-east-1").createLog("orders", {});
    const regions = ["us-east-1", "us-west-2", "us-east-2", "us-east-1"];
    for (const region of regions) await running.client(region).append("orders", batchOf(region), "utf8");
    const { segments } = await running.client("us-west-2").segments("orders");
    expect(segments.map((one) => [one.first_seq_num, one.owner])).toEqual([[0, "us-east-1"]]);
    expect(await running.bodies("us-east-2", "orders")).toEqual(regions);
  });

  test("may be named, or counted; a preset is chosen that they can hold, and said", async () => {
    expect(parseRegions("2")).toEqual(["us-east-1", "us-east-2"]);
    expect(parseRegions("eu-west-1, x")).toEqual(["eu-west-1", "x"]);
    for (const wrong of ["0", "10", "", "A", "a,a", "a..b", "-", "us_east"]) {
      expect(() => parseRegions(wrong)).toThrow(LocalError);
    }
    await using one = await RunningCloud.start({ regions: "solo" });
    expect(one.cloud.presetText).toContain('"single region": 2 bookies, acknowledged by 2 in 1 region');
    await one.client("solo").createLog("x", {});
    await one.client("solo").append("x", batchOf("a"), "utf8");
    expect(await one.bodies("solo", "x")).toEqual(["a"]);
    await using five = await RunningCloud.start({ regions: "5", delayMs: 4 });
    expect(five.cloud.regions()).toHaveLength(5);
    await five.client("us-west-1").createLog("x", {});
    await five.client("ca-central-1").append("x", batchOf("a"), "utf8");
    expect(await five.bodies("us-west-1", "x")).toEqual(["a"]);
  });

  test("say how many of them may be lost", async () => {
    await using running = await RunningCloud.start();
    const health = await (await fetch(`${running.url("us-east-1")}/v1/health`)).json();
    expect(health).toMatchObject({ region: "us-east-1", status: "ok", survivable_region_losses: 1 });
    await using two = await RunningCloud.start({ regions: "2" });
    expect(await (await fetch(`${two.url("us-east-1")}/v1/health`)).json()).toMatchObject({
      survivable_region_losses: 0,
    });
  });
});

describe("the data directory", () => {
  test("keeps everything over a stop, ledgers of other segments too", async () => {
    await using running = await RunningCloud.start();
    await running.client("us-east-1").createLog("orders", { segment_bytes_max: 1_024 });
    for (let batch = 0; batch < 6; batch++) {
      await running.client("us-east-1").append("orders", batchOf("x".repeat(600), `${batch}`), "utf8");
    }
    const before = await running.bodies("us-west-2", "orders");
    await running.stop();
    expect(await readdir(running.dataDir)).not.toContain("control.json");
    await running.open();
    expect(await running.bodies("us-west-2", "orders")).toEqual(before);
    await running.client("us-west-2").append("orders", batchOf("after"), "utf8");
    expect(await running.bodies("us-east-1", "orders")).toEqual([...before, "after"]);
    const { segments } = await running.client("us-east-1").segments("orders");
    expect(segments.length).toBeGreaterThan(2);
  });

  test("is refused to a second cloud, which then takes nothing away from the first", async () => {
    await using running = await RunningCloud.start();
    const second = EmbeddedCloud.open({ dataDir: running.dataDir, port: 0, write: () => {} });
    await expect(second).rejects.toThrow(LocalError);
    await expect(second).rejects.toThrow(
      new RegExp(`process ${process.pid} runs one there.*--data.*in use by another process`),
    );
    expect(await readdir(running.dataDir)).toContain("control.json");
    await running.client("us-east-1").createLog("still-there", {});
  });

  test("has the regions that it was made with", async () => {
    await using running = await RunningCloud.start({ regions: "2" });
    await running.stop();
    await expect(running.open({ regions: "3" })).rejects.toThrow(/has the regions us-east-1, us-east-2, not/);
    await running.open();
    expect(running.cloud.regions()).toHaveLength(2);
  });

  test("of another format is refused as it is, and a newer one is called so", async () => {
    await using running = await RunningCloud.start({ regions: "1" });
    await running.stop();
    const path = join(running.dataDir, "cloud.json");
    const own = await readFile(path, "utf8");
    for (const [format, why] of [
      ["2", /newer version of Fenceline: its format is 2, and this version reads 1\. Nothing was changed/],
      ["1.5", /not what this version writes/],
      ['"2"', /not what this version writes/],
      ["0", /not what this version writes/],
    ] as const) {
      const other = own.replace('"format": 1', `"format": ${format}`);
      await writeFile(path, other);
      await expect(running.open()).rejects.toThrow(why);
      expect(await readFile(path, "utf8")).toBe(other);
    }
  });

  test("without its file of identities is refused, not begun anew", async () => {
    await using running = await RunningCloud.start();
    await running.stop();
    await rm(join(running.dataDir, "cloud.json"));
    await expect(running.open()).rejects.toThrow(/identities of the bookies' storage/);
  });

  test("is not begun among files that are no cloud's, and nothing is written there", async () => {
    await using running = await RunningCloud.start();
    const foreign = join(running.dataDir, "foreign");
    await mkdir(foreign);
    await writeFile(join(foreign, "thesis.txt"), "mine");
    const refused = EmbeddedCloud.open({ dataDir: foreign, port: 0, write: () => {} });
    await expect(refused).rejects.toThrow(/no cloud's directory.*"thesis.txt" in it.*--data/);
    expect(await readdir(foreign)).toEqual(["thesis.txt"]);
  });

  test("that cannot be made is told", async () => {
    await using running = await RunningCloud.start();
    const file = join(running.dataDir, "cloud.json");
    const text = await readFile(file, "utf8");
    for (const [dataDir, why] of [
      [file, /no cloud can run on .*cloud.json: it is a file, and --data names a folder/],
      [join(file, "a", "b"), /no cloud can run on .*cloud.json.*ENOTDIR.*--data/],
    ] as const) {
      await expect(EmbeddedCloud.open({ dataDir, port: 0, write: () => {} })).rejects.toThrow(why);
      const notThere = readControlFile(dataDir);
      await expect(notThere).rejects.toThrow(LocalError);
      await expect(notThere).rejects.toThrow(/it is a file, or under one, and --data names a folder/);
    }
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test.runIf(process.platform === "linux")("where nothing can be made is told, and ends", async () => {
    const refused = EmbeddedCloud.open({ dataDir: "/proc/fenceline/data", port: 0, write: () => {} });
    await expect(refused).rejects.toThrow(/no cloud can run on \/proc\/fenceline\/data: .*ENOENT/);
  });

  test.each([".fenceline", "empty"])("may be %s beside what tools or desktops leave", async (name) => {
    await using running = await RunningCloud.start();
    const dir = join(running.dataDir, name);
    await mkdir(dir);
    await writeFile(join(dir, name === "empty" ? ".DS_Store" : "setup.lock"), "");
    const cloud = await EmbeddedCloud.open({ dataDir: dir, port: 0, write: () => {} });
    await cloud.close();
    expect(await readdir(dir)).toContain("cloud.json");
  });

  test("keeps its control token from other users", async () => {
    await using running = await RunningCloud.start();
    const { mode } = await stat(join(running.dataDir, "control.json"));
    expect(mode & 0o077).toBe(0);
  });

  test("rule 21: a bookie whose storage came back empty answers nothing, and nothing is lost", async () => {
    await using running = await RunningCloud.start();
    await running.client("us-east-1").createLog("orders", {});
    await running.client("us-east-1").append("orders", batchOf("a"), "utf8");
    await running.stop();
    const region = join(running.dataDir, "regions", "us-east-1");
    const [lost = ""] = await readdir(region);
    await rename(join(region, lost), join(running.dataDir, "taken-away"));
    await running.open();
    expect(running.cloud.warnings[0]).toContain(`us-east-1.${lost} is not what it was`);
    await running.client("us-west-2").append("orders", batchOf("b"), "utf8");
    expect(await running.bodies("us-east-2", "orders")).toEqual(["a", "b"]);
    const file = JSON.parse(await readFile(join(running.dataDir, "cloud.json"), "utf8"));
    expect(file.bookies).toHaveLength(6);
  });
});

test("a port in use is told, and what was opened before it is closed again", async () => {
  await using running = await RunningCloud.start();
  const port = Number(new URL(running.url("us-east-2")).port);
  await using other = await RunningCloud.start();
  await other.stop();
  await expect(other.open({ port })).rejects.toThrow(
    new RegExp(`port ${port}, for us-east-1, is in use.*--port`),
  );
  await other.open();
});
