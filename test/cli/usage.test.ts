/** What is refused before any request, what is said before a command, and the table of exit codes. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { problemStatus } from "../../lib/api/problem.ts";
import { exitCodeOf, exitCodes, exitCodeWords } from "../../lib/cli/exit-codes.ts";
import { ProblemError } from "../../lib/client/client-errors.ts";
import { LogClient } from "../../lib/client/log-client.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { fakeLedgerId } from "../api/fake-log.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, run } from "./run-command.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("a log's name is refused before any request by", () => {
  const commands = [
    "create LOG",
    "append LOG",
    "read LOG",
    "describe LOG",
    "trim LOG --to 0",
    "seal LOG",
    "delete LOG",
    "owner show LOG",
    "owner transfer LOG --to us-east-1",
    "owner prefer LOG us-east-1",
  ];

  test.each(commands)("%s", async (line) => {
    await using endpoint = await FaultyEndpoint.open();
    endpoint.isSilent = true;
    for (const name of ["", "..", "a/./b", "\n", "x".repeat(513)]) {
      const words = line.split(" ").map((word) => (word === "LOG" ? name : word));
      const { code, out, err } = await run([...words, "--endpoint", endpoint.url], "a\n");
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain("The log's name is refused: it has");
    }
  });
});

test("names of regions, bookies and ledgers that make no path are refused before they are sent", async () => {
  await using endpoint = await FaultyEndpoint.open();
  for (const args of [
    ["region", "drain", ""],
    ["ledger", "show", ""],
    ["ledger", "recover", ".."],
  ]) {
    const { code, err } = await run([...args, "--endpoint", endpoint.url]);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/is no name of a (region|ledger); nothing was sent/),
    ]);
  }
});

describe("an endpoint", () => {
  test("before the command counts for it, and the one behind it counts more", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const before = ["--endpoint", endpoint.url];
    expect(await run([...before, "create", "x"])).toMatchObject({ code: 0, out: "created x\n" });
    const nobody = ["--endpoint", "http://127.0.0.1:1"];
    expect((await run([...nobody, "describe", "x", ...before])).code).toBe(0);
    const failed = await run([...before, "append", "nowhere"], "a\n");
    expect(failed.err).toContain(`npx fenceline create nowhere --endpoint ${endpoint.url}`);
  });

  test("before a command that asks no region is refused", async () => {
    const { code, err } = await run(["--endpoint", "http://127.0.0.1:4701", "local", "region", "a", "up"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--endpoint means nothing to local region")]);
  });

  test("with /v1 is refused, and told without", async () => {
    for (const url of ["http://127.0.0.1:4701/v1", "https://x/live/v1/"]) {
      const { code, err } = await run(["logs", "--endpoint", url]);
      expect(code).toBe(2);
      expect(err).toContain(`without /v1: ${url.replace(/\/v1\/?$/, "")}`);
    }
  });

  test.each([
    "http://me:secret-word@127.0.0.1:4701",
    "http://secret-word@127.0.0.1:4701/",
    "http://:secret-word@127.0.0.1:4701",
    "http:secret-word@127.0.0.1:4701",
    "https:\\\\me:secret-word@127.0.0.1:4701",
    "http://me:secret-word@",
    "http://127.0.0.1:4701?token=secret-word",
    "http://127.0.0.1:4701/?",
    "http://127.0.0.1:4701/base#secret-word",
    "http://127.0.0.1:4701/#",
    "http://me:secret-word@127.0.0.1:4701/v1",
    "http://me:secret-word@host:port",
    "ftp://me:secret-word@127.0.0.1",
    "me:secret-word@127.0.0.1:4701",
    "",
  ])("%j is refused, and not printed", async (url) => {
    vi.stubEnv("AWS_ENDPOINT_URL", url);
    onTestFinished(() => void vi.unstubAllEnvs());
    await using scratch = await ScratchDirectory.make();
    const [own, aws] = [join(scratch.path, "own.json"), join(scratch.path, "aws.json")];
    const gateway = "https://abc123.execute-api.us-east-1.amazonaws.com/live";
    await writeFile(own, JSON.stringify({ one: { Region: "us-east-1", Endpoint: url } }));
    await writeFile(aws, JSON.stringify({ one: { Region: "us-east-1", Endpoint: gateway } }));
    const plan = "placement check --ensemble 4 --write-quorum 4 --ack-quorum 3 --min-regions 2";
    for (const args of [
      ["logs", "--endpoint", url],
      ["logs", `--endpoint=${url}`, "--output", "json"],
      ["--endpoint", url, "append", "x"],
      ["verify", "--endpoint", "http://127.0.0.1:4701", "--endpoint", url],
      ["--endpoint", url, ...plan.split(" "), "--topology", "a:9,b:9"],
      ["--outputs", own, "--region", "us-east-1", "logs"],
      ["--outputs", aws, "--region", "us-east-1", "logs"],
    ]) {
      const { code, out, err } = await run(args, "a\n");
      expect([args, code, out]).toEqual([args, 2, ""]);
      expect(err).toMatch(/has to be a region's base URL|leave it out/);
      expect(err).not.toContain("secret-word");
    }
    expect(() => new LogClient({ endpoint: url })).toThrow(/^the endpoint (?!.*secret-word)/);
  });

  test.each([
    ["x", '"x" is no URL'],
    ["", '"" is no URL'],
    ["http://", '"http://" is no URL'],
    ["ftp://127.0.0.1/logs", '"ftp://127.0.0.1/logs" has the scheme ftp'],
    ["localhost:4701", '"localhost:4701" has the scheme localhost'],
    ["http://127.0.0.1:99999", '"http://127.0.0.1:99999" has a port over 65535'],
    [
      "http://me:secret-word@127.0.0.1:99999/a?key=secret-word",
      '"...@127.0.0.1:99999/a..." has a port over 65535',
    ],
    ["ftp://me:secret@word@127.0.0.1", '"...@127.0.0.1" has the scheme ftp'],
  ])("%j is repeated with what is wrong with it", async (url, what) => {
    const { code, err } = await run(["logs", "--endpoint", url]);
    expect([code, err]).toEqual([2, expect.stringContaining(`such as http://127.0.0.1:4701; ${what}`)]);
    expect(err).not.toContain("secret");
  });

  test("is asked without the slashes and the capitals that mean nothing", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const shouted = `${endpoint.url.replace("http", "HTTP")}//`;
    const { err } = await run(["append", "nowhere", "--endpoint", shouted], "a\n");
    expect(err).toContain(`npx fenceline create nowhere --endpoint ${endpoint.url}\n`);
  });

  test("on a port that nothing is sent to is asked once, and is a matter of usage", async () => {
    const begunMs = performance.now();
    for (const line of ["describe x", "append x"]) {
      const { code, err } = await run([...line.split(" "), "--endpoint", "http://127.0.0.1:1"], "a\n");
      expect(code).toBe(2);
      expect(err).toContain("fetch sends nothing to that port (bad port)");
      expect(err).not.toContain("trying again");
    }
    expect(performance.now() - begunMs).toBeLessThan(5_000);
  });

  test("where nobody listens is tried for --retry-for, which is told once", async () => {
    await using gone = await FaultyEndpoint.open();
    await gone[Symbol.asyncDispose]();
    const { code, err } = await at(gone)("describe x");
    expect(code).toBe(5);
    expect(err.match(/nobody listens there \(ECONNREFUSED\); trying again for 1 s at most/g)).toHaveLength(1);
  });
});

test("--version is the package's", async () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  expect(await run(["--version"])).toEqual({
    code: 0,
    out: `${version}\n`,
    bytes: expect.anything(),
    err: "",
  });
});

test("two forms of output that contradict each other are refused", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  await at(endpoint)("append x", "a\n");
  const both = await at(endpoint)("read x --output json --format text");
  expect([both.code, both.out, both.err]).toEqual([2, "", expect.stringContaining("contradict each other")]);
  expect((await at(endpoint)("read x --output json --format json")).out).toContain('"body":"a"');
  expect((await at(endpoint)("read x --output json")).out).toContain('"body":"a"');
  const sizes = "--ensemble 2 --write-quorum 2 --ack-quorum 2 --min-regions 2 --topology a:2,b:2";
  expect((await run(`placement check ${sizes} --json --output text`.split(" "))).code).toBe(2);
});

test("every --output json, and every error in it, has names in snake_case alone", async () => {
  await using endpoint = await FaultyEndpoint.open();
  const sizes = "--ensemble 4 --write-quorum 4 --ack-quorum 3 --min-regions 2 --topology a:9,b:9";
  const lines = [
    "create x --preset economy",
    "create x --preset standard",
    "append x",
    "append x --match-seq-num 9",
    "read x",
    "read x --timing",
    "read nowhere",
    "logs",
    "describe x",
    "owner show x",
    "owner transfer x --to us-east-1",
    "owner prefer x us-east-1",
    "region list",
    "region drain us-east-1",
    "bookie lost us-east-1.b1",
    "bookie lost nowhere",
    `ledger show ${fakeLedgerId}`,
    `ledger recover ${fakeLedgerId}`,
    `placement check ${sizes}`,
    `placement check ${sizes.replace("--ack-quorum 3", "--ack-quorum 1")}`,
    `placement place ${sizes}`,
    "verify --duration 1 --appenders 1 --reads-failed-max 100",
    "trim x --to 1",
    "seal x",
    "delete x",
  ];
  for (const line of lines) {
    const asks = line.startsWith("placement") ? "" : ` --endpoint ${endpoint.url}`;
    const { out, err } = await run(`${line} --output json${asks}`.split(" "), "a\n");
    const said = [...out.split("\n"), ...err.split("\n").filter((one) => one.startsWith("{"))];
    const documents = said.filter((one) => one !== "").map((one) => JSON.parse(one));
    expect([line, documents.length > 0]).toEqual([line, true]);
    expect([line, documents.flatMap(namesIn).filter((name) => /[A-Z]/.test(name))]).toEqual([line, []]);
  }
}, 20_000);

/** Names of members, at any depth. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

describe("exit codes", () => {
  test("are in one table, which the help and docs/CLI.md have", async () => {
    const { out } = await run(["--help"]);
    const page = read("docs/CLI.md");
    for (const [code, words] of Object.entries(exitCodeWords)) {
      expect(out).toContain(`  ${code.padStart(3)}  ${words}\n`);
      expect(page).toMatch(new RegExp(`\\| ${code.padEnd(3)} \\| ${words} +\\|`));
    }
    expect(Object.keys(exitCodeWords).map(Number).sort()).toEqual(Object.values(exitCodes).sort());
  });

  const ofStatus = { 400: 2, 403: 3, 404: 4, 406: 2, 410: 4, 412: 3, 413: 2, 415: 2, 416: 4, 417: 2, 422: 3 };

  test.each(Object.entries(problemStatus))("of %s, which is %i", (code, status) => {
    const problem = { code, status, detail: "why", retryable: false, side_effects: "none" };
    const exit = exitCodeOf(new ProblemError(problem as never));
    expect(Object.values(exitCodes)).toContain(exit);
    const wanted = (ofStatus as Record<number, number>)[status];
    if (wanted !== undefined && code !== "route_not_found") expect(exit).toBe(wanted);
    expect(exitCodeOf(new ProblemError({ ...problem, retryable: true } as never))).toBe(5);
  });

  test("4 for what is not there, wherever it was looked for", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    for (const line of [
      "describe nowhere",
      "ledger show 7",
      "region drain mars",
      "bookie lost b9",
      "read x --from 9",
    ]) {
      expect([line, (await at(endpoint)(line)).code]).toEqual([line, 4]);
    }
  });

  test("6 for a change that may have been made", async () => {
    const problem = { code: "unknown_outcome", status: 504, detail: "", retryable: false };
    expect(exitCodeOf(new ProblemError({ ...problem, side_effects: "possible" } as never))).toBe(6);
  });
});
