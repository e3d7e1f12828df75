/** `fenceline owner` and `fenceline verify`, as a user types them. */
import { describe, expect, test, vi } from "vitest";
import { verify } from "../../lib/client/verify/verify.ts";
import { RunningCloud } from "../local/running-cloud.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, run } from "./run-command.ts";

describe("owner", () => {
  test("show, transfer, prefer", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create orders --prefer us-west-2");
    expect(await fenceline("owner show orders")).toMatchObject({
      code: 0,
      out: "orders has no owner yet: nothing was appended; it prefers us-west-2\n",
    });
    expect(await fenceline("owner transfer orders --to us-west-2")).toMatchObject({
      code: 0,
      out: "orders is owned by us-west-2, in epoch 4\n",
    });
    expect((await fenceline("owner prefer orders us-east-1")).out).toBe("orders prefers us-east-1\n");
    expect((await fenceline("owner prefer orders")).out).toBe("orders prefers no region\n");
    expect(JSON.parse((await fenceline("owner show orders --output json")).out)).toEqual({
      log: "orders",
      owner: "us-west-2",
      epoch: 4,
    });
  });

  test("a log that is not there, and a transfer to nowhere", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    expect(await fenceline("owner show nowhere")).toMatchObject({ code: 4, out: "" });
    expect(await fenceline("owner transfer orders")).toMatchObject({ code: 2, out: "" });
  });
});

describe("verify", () => {
  test("of regions that are not there says what was tried, why it failed, and what to do", async () => {
    const silent = "http://127.0.0.1:59998";
    const args = ["verify", "--endpoint", silent, "--retry-for", "1", "--duration", "1"];
    const { code, err } = await run(args);
    expect(code).toBe(5);
    const lines = err.trim().split("\n");
    expect(lines).toHaveLength(2);
    const tried = `${silent} gave no answer to PUT /v1/logs/verify-`;
    for (const line of lines) expect(line).toContain(tried);
    expect(lines[0]).toMatch(/nobody listens there \(ECONNREFUSED\); trying again for 1 s at most$/);
    expect(lines[1]).toMatch(/does not answer\. Is it running\?.*--endpoint/);
  });

  test("passes on a sound cloud, tells what it saw, and deletes its logs", async () => {
    await using running = await RunningCloud.start();
    const endpoints = running.cloud.regions().flatMap(({ url }) => ["--endpoint", url]);
    const args = ["verify", ...endpoints, "--appenders", "6", "--logs", "2", "--duration", "1"];
    const { code, out, err } = await run([...args, "--json", "--timeout", "20"]);
    const report = JSON.parse(out);
    expect({ code, err, report }).toMatchObject({
      code: 0,
      err: "",
      report: { passed: true, violation_count: 0, logs: 2, unknown: 0, refused: 0 },
    });
    expect(report.acknowledged).toBe(report.records);
    expect(report.strong_reads).toBe(report.acknowledged);
    expect((await running.client("us-east-1").listLogs({ prefix: "verify-" })).logs).toEqual([]);
    const text = await run([...args, "--follow-owner", "--keep"]);
    expect(text.out).toMatch(/^passed: 0 violations\nlogs +2, with .*longest gap/s);
    expect((await running.client("us-east-1").listLogs({ prefix: "verify-" })).logs).toHaveLength(2);
  }, 40_000);

  test("reads strongly behind an acknowledgement, and in another region than it came from", async () => {
    await using running = await RunningCloud.start();
    const clients = ["us-east-1", "us-east-2", "us-west-2"].map((region) => running.client(region));
    const spies = clients.map((client) => vi.spyOn(client, "read"));
    const report = await verify({
      clients,
      prefix: "elsewhere",
      appenders: 1,
      logs: 1,
      durationMs: 1_000,
      recordBytes: 20,
      followOwner: false,
      plain: false,
      unknownShareMax: 0,
      readsFailedShareMax: 0,
      patienceMs: 10_000,
    });
    expect(report).toMatchObject({ passed: true, strongReads: report.acknowledged, strongReadsFailed: 0 });
    const [home = -1, ...others] = spies.map(
      ({ mock }) =>
        mock.calls.filter(([, { consistency, count }]) => consistency === "strong" && count === 1).length,
    );
    expect(home).toBe(0);
    expect(others.reduce((sum, one) => sum + one, 0)).toBe(report.strongReads);
  }, 30_000);

  test("fails with exit code 3 where a server loses what it acknowledged", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const { logs } = endpoint;
    const append = logs.append.bind(logs);
    let count = 0;
    logs.append = async (request) => {
      const ack = await append(request);
      if (++count === 5) logs.logs.get(request.log)?.records.pop();
      return ack;
    };
    const args = ["verify", "--endpoint", endpoint.url, "--appenders", "2", "--duration", "1"];
    const { code, out, err } = await run([...args, "--retry-for", "2", "--json"]);
    expect(code).toBe(3);
    expect(err).toMatch(/The logs are kept: verify-/);
    const report = JSON.parse(out);
    expect(report.passed).toBe(false);
    const promises = report.violations.map((one: { promise: string }) => one.promise);
    expect(promises).toEqual(expect.arrayContaining(["CH2", "CH6"]));
  }, 30_000);
});
