/**
 * Commands that get a signal to stop: what they say is done, what is in doubt, how to go on, and the exit code.
 */
import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { InterruptedError, type StopSignal } from "../../lib/cli/interruption.ts";
import { runCommand } from "../../lib/cli/main.ts";
import { LAUNCHER } from "../command-file.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, Collected, run } from "./run-command.ts";

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The command line, interrupted once `when` holds. */
async function interrupted(line: string, input: string, by: StopSignal, when: () => boolean) {
  const interruption = new AbortController();
  const running = run(line.split(" "), input, interruption.signal);
  await until(when);
  interruption.abort(new InterruptedError(by));
  return await running;
}

describe("an append that is interrupted", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s ends with %i; says what is in doubt and how to go on, and that completes it",
    async (by, code) => {
      await using endpoint = await FaultyEndpoint.open();
      await at(endpoint)("create x");
      endpoint.faults.push("answer lost");
      const line = `append x --match-seq-num 0 --endpoint ${endpoint.url}`;
      const stopped = await interrupted(line, "a\n", by, () => endpoint.requests.length > 0);
      expect(stopped).toMatchObject({ code, out: "" });
      expect(stopped.err).toContain("0 lines of the input are in log x. The next one may be there or not");
      expect(stopped.err).toContain(`fenceline: interrupted by ${by}, with 1 record in doubt\n`);
      expect(stopped.err).not.toMatch(/does not answer|no answer|npm start/);
      const [, command = ""] = /the same input and: npx fenceline (.*)/.exec(stopped.err) ?? [];
      expect((await at(endpoint)(`${command} --output json`, "a\n")).code).toBe(0);
      expect(endpoint.bodies("x")).toEqual(["a"]);
    },
  );

  test("waits a moment for the answer under way: what is acknowledged is said, and nothing is in doubt", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const real = endpoint.logs.append.bind(endpoint.logs);
    const interruption = new AbortController();
    endpoint.logs.append = async (request) => {
      await until(() => interruption.signal.aborted);
      return await real(request);
    };
    const running = run(
      ["append", "x", "--endpoint", endpoint.url],
      "line\n".repeat(1_500),
      interruption.signal,
    );
    await until(() => endpoint.requests.length > 0);
    interruption.abort(new InterruptedError("SIGINT"));
    const stopped = await running;
    expect(stopped.code).toBe(130);
    expect(stopped.err).toContain("1,000 lines of the input are in log x, from seq_num 0 on.");
    expect(stopped.err).toContain("append x - --match-seq-num 0 --resume");
    expect(stopped.err).toMatch(/fenceline: interrupted by SIGINT\n$/);
    expect(endpoint.bodies("x")).toHaveLength(1_000);
  });

  test("does not wait longer for a region that is silent", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    let isAsked = false;
    endpoint.logs.append = () => {
      isAsked = true;
      return new Promise<never>(() => {});
    };
    const line = `append x --endpoint ${endpoint.url} --output json`;
    const stopped = await interrupted(line, "a\nb\n", "SIGTERM", () => isAsked);
    expect(stopped.code).toBe(143);
    expect(stopped.err).toMatch(
      /The next 2 may be there, all of them or none\. Complete it .* --key [0-9a-f]{24}/,
    );
    expect(JSON.parse(stopped.err.trim().split("\n").at(-1) ?? "")).toEqual({
      error: "interrupted by SIGTERM, with 2 records in doubt",
      interrupted: "SIGTERM",
      side_effects: "possible",
      in_doubt: { records: 2, at: null },
    });
  }, 20_000);

  test("while it waits for input has nothing in doubt", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const [stdin, stdout, stderr] = [new PassThrough(), new Collected(), new Collected()];
    const interruption = new AbortController();
    const args = ["append", "x", "--endpoint", endpoint.url];
    const running = runCommand(args, { stdin, stdout, stderr }, interruption.signal);
    stdin.write("a\n");
    await until(() => endpoint.bodies("x").length > 0);
    interruption.abort(new InterruptedError("SIGINT"));
    expect(await running).toBe(130);
    const err = stderr.bytes.toString();
    expect(err).toContain("1 line of the input is in log x, from seq_num 0 on. Complete it");
    expect(err).toMatch(/fenceline: interrupted by SIGINT\n$/);
  });
});

test("other commands say that they were interrupted, and whether they may have changed something", async () => {
  await using endpoint = await FaultyEndpoint.open();
  const commands = [
    ["describe x", "fenceline: interrupted by SIGINT\n"],
    ["create x", "fenceline: interrupted by SIGINT; what it had asked for may have been done or not\n"],
  ] as const;
  for (const [line, told] of commands) {
    let isAsked = false;
    const silence = () => {
      isAsked = true;
      return new Promise<never>(() => {});
    };
    Object.assign(endpoint.logs, { describeLog: silence, createLog: silence });
    const command = `${line} --endpoint ${endpoint.url}`;
    const { code, err } = await interrupted(command, "", "SIGINT", () => isAsked);
    expect({ code, err }).toEqual({ code: 130, err: told });
  }
});

test("a deletion that is interrupted says how far it is, and ends as interrupted", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  let isAsked = false;
  endpoint.logs.deleteLog = async () => {
    isAsked = true;
    return "deleting";
  };
  const stopped = await interrupted(`delete x --endpoint ${endpoint.url}`, "", "SIGINT", () => isAsked);
  expect(stopped.code).toBe(130);
  expect(stopped.out).toMatch(/deleting x; .*run this again|^$/);
  expect(stopped.err).toContain("interrupted by SIGINT");
});

test("trouble of an append is told with how long it is put up with", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  endpoint.faults.push(...Array<"request lost">(40).fill("request lost"));
  const { code, err } = await run(["append", "x", "--endpoint", endpoint.url, "--retry-for", "4"], "a\n");
  expect(code).toBe(6);
  // With less the pauses may end before the first line is due, after a second.
  expect(err).toMatch(/append x: 0 lines in \d+ s .*; trying again for 4 s at most: http/);
}, 20_000);

test("the process itself passes its signals on", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  const args = [LAUNCHER, "append", "x", "--endpoint", endpoint.url];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const code = new Promise((resolve) => child.once("close", resolve));
  child.stdin.write("a\n");
  await until(() => endpoint.bodies("x").length > 0);
  child.kill("SIGTERM");
  expect(await code).toBe(143);
  expect(err).toContain("fenceline: interrupted by SIGTERM");
}, 60_000);
