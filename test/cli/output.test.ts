/** Output that cannot be written is said and is exit code 1; only a reader that left is quiet. */
import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../lib/cli/main.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { fakeLedgerId } from "../api/fake-log.ts";
import { COMMAND } from "../command-file.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, Collected, run } from "./run-command.ts";

/** Standard output that fails with the system's word after so many writes. */
function failing(code: string, after = 0): Writable {
  let left = after;
  const stream = new Writable({
    write: (_chunk, _encoding, done) => {
      left -= 1;
      done(left < 0 ? Object.assign(new Error(`${code}: no more, write`), { code }) : null);
    },
  });
  stream.on("error", () => {});
  return stream;
}

async function runInto(stdout: Writable, args: readonly string[], input = "") {
  const [stderr, stdin] = [new Collected(), new PassThrough()];
  stdin.end(input);
  const code = await runCommand(args, { stdin, stdout, stderr }, new AbortController().signal);
  return { code, err: stderr.bytes.toString() };
}

const PLAN = "--ensemble 4 --write-quorum 4 --ack-quorum 3 --min-regions 2 --topology a:9,b:9";

const commands: readonly (readonly [line: string, input?: string])[] = [
  ["--help"],
  ["--version"],
  ["read --help"],
  ["create x"],
  ["append x", "a\n"],
  ["read x"],
  ["read x --format base64"],
  ["read x --output json"],
  ["logs"],
  ["describe x"],
  ["owner show x"],
  ["owner transfer x --to us-east-1"],
  ["owner prefer x us-east-1"],
  ["region list"],
  ["region accept us-east-1"],
  ["bookie writable us-east-1.b1"],
  [`ledger show ${fakeLedgerId}`],
  [`ledger recover ${fakeLedgerId}`],
  [`placement check ${PLAN}`],
  [`placement place ${PLAN} --json`],
  ["trim x --to 1"],
  ["seal x"],
  ["delete x"],
  ["verify --duration 1 --appenders 1 --reads-failed-max 100"],
];

/** What says something of a region, or of nothing, takes no endpoint. */
const asksNobody = (line: string) => /^(--|placement|read --help)/.test(line);

describe("every command whose output", () => {
  test.each(["ENOSPC", "EIO"])(
    "fails with %s says so, and ends with 1",
    async (code) => {
      await using endpoint = await FaultyEndpoint.open();
      await at(endpoint)("create x");
      await at(endpoint)("append x", "a\nb\n");
      for (const [line, input] of commands) {
        const where = asksNobody(line) ? [] : ["--endpoint", endpoint.url];
        const failed = await runInto(failing(code), [...line.split(" "), ...where], input);
        expect([line, failed.code]).toEqual([line, 1]);
        expect(failed.err).toContain(`standard output cannot be written: ${code}`);
      }
    },
    60_000,
  );

  test.each(["EPIPE", "ECONNRESET"])(
    "nobody reads any more (%s) ends quietly",
    async (code) => {
      await using endpoint = await FaultyEndpoint.open();
      await at(endpoint)("create x");
      await at(endpoint)("append x", "a\nb\n");
      for (const [line, input] of commands.filter(([line]) => !/^(trim|seal|delete|verify)/.test(line))) {
        const where = asksNobody(line) ? [] : ["--endpoint", endpoint.url];
        const left = await runInto(failing(code), [...line.split(" "), ...where], input);
        expect([line, left]).toEqual([line, { code: 0, err: "" }]);
      }
    },
    60_000,
  );
});

test("a change whose result cannot be printed is said to be made", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  const { err } = await runInto(failing("ENOSPC"), ["append", "x", "--endpoint", endpoint.url], "a\n");
  expect(err).toContain("What was asked for is done all the same");
  expect(endpoint.bodies("x")).toEqual(["a"]);
});

test("a read that fails in its second page does not end as if it had been whole", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  await at(endpoint)("append x", "line\n".repeat(2_500));
  const failed = await runInto(failing("ENOSPC", 1), ["read", "x", "--endpoint", endpoint.url]);
  expect(failed.code).toBe(1);
});

test("a read waits for a slow reader, and asks for no more pages meanwhile", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  await at(endpoint)("append x", "line\n".repeat(5_000));
  const real = endpoint.logs.read.bind(endpoint.logs);
  let [asked, mostAhead, written] = [0, 0, 0];
  endpoint.logs.read = (request) => {
    mostAhead = Math.max(mostAhead, ++asked - written);
    return real(request);
  };
  const slow = new Writable({
    write: (_chunk, _encoding, done) => {
      setTimeout(() => {
        written += 1;
        done();
      }, 20);
    },
  });
  expect((await runInto(slow, ["read", "x", "--endpoint", endpoint.url])).code).toBe(0);
  expect([asked, mostAhead]).toEqual([5, 1]);
});

/** A line of bash in which fenceline is the command. */
function shell(line: string) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const command = `fenceline() { exec "${process.execPath}" "${COMMAND}" "$@"; }; ${line}`;
  const { status, stderr } = spawnSync("bash", ["-c", command], { cwd: root, encoding: "utf8" });
  return { status, stderr };
}

describe("the process itself", () => {
  const place =
    "placement place --ensemble 15 --write-quorum 15 --ack-quorum 9 --min-regions 2 " +
    "--topology us-east-1:20,us-east-2:20,us-west-2:20 --json";

  test("on a full disk", () => {
    for (const line of ["--help", place]) {
      const { status, stderr } = shell(`fenceline ${line} > /dev/full`);
      expect([status, stderr]).toEqual([1, expect.stringContaining("ENOSPC")]);
    }
  }, 60_000);

  test("a file that takes only part of the output has not taken it", async () => {
    await using scratch = await ScratchDirectory.make();
    const file = join(scratch.path, "out");
    // One block of 1,024 bytes: the system takes a part of the write, and reports no error for it.
    const { status, stderr } = shell(`ulimit -f 1; fenceline ${place} > '${file}'`);
    expect([status, stderr]).toEqual([1, expect.stringContaining("EFBIG")]);
    expect((await readFile(file)).length).toBe(1_024);
  }, 60_000);

  test("whose reader is gone ends quietly", () => {
    const { status, stderr } = shell(`(sleep 0.2; fenceline ${place}; echo "code $?" >&2) | true`);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("standard output")]);
  }, 60_000);
});

describe("append looks at its input first", () => {
  test("a folder is no standard input", () => {
    const { status, stderr } = shell("fenceline append x < /tmp");
    expect([status, stderr]).toEqual([2, expect.stringContaining("standard input cannot be read: EISDIR")]);
  }, 60_000);

  test("nor is one that is closed; one that is empty is", () => {
    const nowhere = "--endpoint http://127.0.0.1:1";
    const closed = shell(`fenceline append x ${nowhere} <&-`);
    expect([closed.status, closed.stderr]).toEqual([2, expect.stringContaining("there was no input")]);
    const empty = shell(`fenceline append x ${nowhere} < /dev/null`);
    expect(empty.stderr).not.toContain("standard input");
    expect(empty.stderr).toContain("http://127.0.0.1:1");
  }, 60_000);

  async function inputs() {
    const scratch = await ScratchDirectory.make();
    const good = join(scratch.path, "good");
    await writeFile(good, "a\nb\n");
    const folder = join(scratch.path, "folder");
    await mkdir(folder);
    return { scratch, good, folder, missing: join(scratch.path, "missing") };
  }

  test("nothing is appended if a later file is missing, or is a folder", async () => {
    const { scratch, good, folder, missing } = await inputs();
    await using _scratch = scratch;
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    for (const [bad, word] of [
      [missing, "ENOENT"],
      [folder, "EISDIR"],
      [join(good, "under"), "ENOTDIR"],
    ] as const) {
      const { code, out, err } = await run(
        ["append", "x", good, "-", bad, "--endpoint", endpoint.url],
        "c\n",
      );
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain(`Nothing was appended.\nfenceline: ${bad} cannot be read: ${word}`);
    }
    expect(endpoint.requests).toEqual([]);
  });

  test("a file that goes away meanwhile is read all the same", async () => {
    const { scratch, good } = await inputs();
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const real = endpoint.logs.tail.bind(endpoint.logs);
    endpoint.logs.tail = async (...args) => {
      await scratch[Symbol.asyncDispose]();
      return await real(...args);
    };
    expect((await at(endpoint)(`append x ${good}`)).code).toBe(0);
    expect(endpoint.bodies("x")).toEqual(["a", "b"]);
  });

  test("what breaks off after part of it was appended is no 2, and the line that completes it is said", async () => {
    const { scratch, good } = await inputs();
    await using _scratch = scratch;
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const long = join(scratch.path, "long");
    await writeFile(long, `${"c\n".repeat(1_000)}${"x".repeat(1_100_000)}\n`);
    const args = ["append", "x", good, long, "--endpoint", endpoint.url];
    const broken = await run(args);
    expect(broken.code).toBe(1);
    // A batch is of 1,000 lines; the two behind it are sent as well if the long line takes long to read.
    const { length } = endpoint.bodies("x");
    expect([1_000, 1_002]).toContain(length);
    expect(broken.err).toContain(
      `${length.toLocaleString("en-US")} lines of the input are in log x, from seq_num 0 on. Mend the input first.`,
    );
    expect(broken.err).toContain(`npx fenceline append x ${good} ${long} --match-seq-num 0 --resume --key `);
    expect(broken.err).toContain("line 1003 has");
    await writeFile(long, "x\n");
    const only = await run(["append", "x", long, "--match-seq-num", "9", "--endpoint", endpoint.url], "");
    expect(only.code).toBe(3);
    await writeFile(long, `${"x".repeat(1_100_000)}\n`);
    expect((await run(["append", "x", long, "--endpoint", endpoint.url])).code).toBe(2);
  });

  test("standard input that cannot be read, and a pipe that is written later", async () => {
    const { scratch, good } = await inputs();
    await using _scratch = scratch;
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const stdin = (async function* (): AsyncGenerator<Buffer> {
      yield await Promise.reject(new Error("EIO: i/o error, read"));
    })();
    const [stdout, stderr] = [new Collected(), new Collected()];
    const args = ["append", "x", "--endpoint", endpoint.url];
    expect(await runCommand(args, { stdin, stdout, stderr }, new AbortController().signal)).toBe(2);
    expect(stderr.bytes.toString()).toContain("standard input cannot be read: EIO");
    const pipe = join(scratch.path, "pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const [piped] = await Promise.all([at(endpoint)(`append x ${pipe} ${good}`), writeFile(pipe, "p\n")]);
    expect([piped.code, endpoint.bodies("x")]).toEqual([0, ["p", "a", "b"]]);
  });
});
