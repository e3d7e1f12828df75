/** The commands as a user types them: data on stdout, the rest on stderr, exit codes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../lib/cli/main.ts";
import { remedyOf } from "../../lib/cli/silent-endpoint.ts";
import { NoAnswerError } from "../../lib/client/client-errors.ts";
import { writeControlFile } from "../../lib/local/control-file.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { seqNum } from "../../lib/protocol/ids.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { costOf, fakeLedgerId } from "../api/fake-log.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, Collected, run } from "./run-command.ts";

describe("a log, from its creation to its records", () => {
  test("create, append, read, logs, describe", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    expect(await fenceline("create orders/eu --preset economy")).toMatchObject({
      code: 0,
      out: "created orders/eu\n",
    });
    expect((await fenceline("create orders/eu --preset economy")).out).toContain("was there");
    const other = await fenceline("create orders/eu --segment-age 60 --prefer us-west-2");
    expect(other).toMatchObject({ code: 3, out: "" });
    expect(other.err).toContain(
      "--ensemble is 2, not 4; --write-quorum is 2, not 4; --ack-quorum is 2, not 3; ",
    );
    expect(other.err).toContain("--segment-age is 7200000 ms, not 60000 ms; --prefer is null, not us-west-2");
    const appended = await fenceline("append orders/eu", "one\ntwo\nthree");
    expect(appended).toMatchObject({ code: 0, err: "" });
    expect(appended.out).toMatch(
      /^3 records \(11 bytes\) are in orders\/eu, seq_nums 0 to 2; durable in us-east-1/,
    );
    expect(await fenceline("read orders/eu")).toMatchObject({ code: 0, out: "one\ntwo\nthree\n", err: "" });
    expect((await fenceline("read orders/eu --from 1 --limit 1")).out).toBe("two\n");
    expect((await fenceline("read orders/eu --from 3")).out).toBe("");
    expect((await fenceline("read orders/eu --last 2")).out).toBe("two\nthree\n");
    expect((await fenceline("read orders/eu --last 9 --limit 1")).out).toBe("one\n");
    expect((await fenceline("read orders/eu --since 2100-01-01")).out).toBe("");
    expect((await fenceline("read orders/eu --since 0 --limit 1")).out).toBe("one\n");
    const dlsn = "0000000000000001-0000000000000000-00001";
    expect((await fenceline(`read orders/eu --dlsn ${dlsn}`)).out).toBe("two\nthree\n");
    expect((await fenceline("read orders/eu --last 2 --from 1")).code).toBe(2);
    expect((await fenceline("read orders/eu --since yesterday")).err).toContain("2027-01-31T12:00:00Z");
    expect((await fenceline("logs")).out).toBe("orders/eu\n");
    expect((await fenceline("logs x")).out).toBe("");
    const described = await fenceline("describe orders/eu");
    expect(described.out).toMatch(
      /^log +orders\/eu\n.*owner +us-east-1\nprefers +no region\nreplication +2 bookies/s,
    );
    expect(described.out).toMatch(
      /^segments +2, each an epoch of one writer; .*\n {2}epoch 1 +from 0 to 2, /m,
    );
    await fenceline("create new --prefer us-west-2");
    endpoint.logs.segments = async () => [];
    endpoint.logs.tail = async () => ({ tail: seqNum(0), upToDate: true, sealed: false, cost: costOf(0) });
    expect((await fenceline("describe new")).out).toMatch(
      /^owner +none yet: nothing was appended\nprefers +us-west-2$/m,
    );
  });

  test("as JSON for programs", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    const json = async (line: string, input?: string | Buffer) =>
      JSON.parse((await fenceline(`${line} --output json`, input)).out);
    expect(await json("create orders")).toMatchObject({ created: true, log: "orders", first_seq_num: 0 });
    expect(await json("append orders", "a\n")).toMatchObject({
      records: 1,
      start: 0,
      end: 1,
      contiguous: true,
    });
    expect(await json("read orders")).toMatchObject({ seq_num: 0, body: "a" });
    expect(await json("logs")).toEqual({ log: "orders" });
    expect(await json("describe orders")).toMatchObject({
      log: "orders",
      tail: { tail: 1 },
      segments: [{}, {}],
    });
    const failed = await fenceline("read nowhere --output json");
    expect(failed).toMatchObject({ code: 4, out: "" });
    expect(JSON.parse(failed.err)).toMatchObject({ code: "log_not_found", status: 404 });
  });

  test("trim, seal, delete", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create orders");
    await fenceline("append orders", "a\nb\n");
    expect((await fenceline("trim orders")).code).toBe(2);
    expect(await fenceline("trim orders --to 1")).toMatchObject({
      code: 0,
      out: "orders begins at seq_num 1\n",
    });
    expect((await fenceline("seal orders")).out).toBe("orders is sealed, and ends at seq_num 2\n");
    const sealed = (await fenceline("describe orders")).out;
    expect(sealed).toMatch(/^incarnation +\S+, sealed, created/m);
    expect(sealed).toMatch(/seq_num 1 up to 2, where the log was sealed/);
    expect(sealed).toMatch(/^owner +none any more: the log is sealed; its last segment is of us-east-1$/m);
    expect(JSON.parse((await fenceline("describe orders --output json")).out).state).toBe("sealed");
    expect((await fenceline("delete orders")).out).toBe("deleted orders\n");
    for (const line of ["delete orders", "seal orders", "trim orders --to 0"]) {
      expect(await fenceline(line)).toMatchObject({ code: 4, out: "" });
    }
  });

  test("delete goes on until it is done, and takes a lost answer for what it was", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create orders");
    const real = endpoint.logs.deleteLog.bind(endpoint.logs);
    const calls: (string | undefined)[] = [];
    endpoint.logs.deleteLog = async (name, only) => {
      calls.push(only);
      if (calls.length === 1) return "deleting";
      if (calls.length === 2) await real(name, only);
      throw new FencelineError(calls.length === 2 ? "unavailable" : "log_not_found", {
        message: "no",
        details: { retry_after_ms: 1 },
      });
    };
    expect(await fenceline("delete orders")).toMatchObject({ code: 0, out: "deleted orders\n" });
    expect(calls).toEqual(["i1", "i1", "i1"]);
  });

  test("ledger show and ledger recover", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    expect((await fenceline(`ledger show ${fakeLedgerId}`)).out).toMatch(
      /state +OPEN\n.*bookie +us-east-1\.b1~s1 at/s,
    );
    expect((await fenceline(`ledger recover ${fakeLedgerId}`)).out).toMatch(
      /state +CLOSED, last entry 5, 9 bytes/,
    );
    expect((await fenceline("ledger show 7")).code).toBe(4);
    expect((await fenceline("ledger show x")).code).toBe(2);
  });
});

test("one record is told of as one", async () => {
  await using endpoint = await FaultyEndpoint.open();
  const fenceline = at(endpoint);
  await fenceline("create x");
  expect((await fenceline("append x", "1")).out).toMatch(/^1 record \(1 byte\) is in x, seq_num 0; durable/);
  endpoint.faults.push("answer lost");
  const lost = await run(["append", "x", "--endpoint", endpoint.url, "--retry-for", "0"], "2");
  expect(lost.err).toContain("0 lines of the input are in log x. The next one may be there or not.");
});

describe("records are kept byte for byte", () => {
  const awkward = Buffer.from("\xef\xbb\xbfBOM\r\n\n\x00\xff\xfe\ngr\xc3\xbc\xc3\x9f\n \t\n", "latin1");

  test("through append and read, also what is not UTF-8", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    await fenceline("create raw");
    expect((await fenceline("append raw", awkward)).code).toBe(0);
    expect(Buffer.compare((await fenceline("read raw")).bytes, awkward)).toBe(0);
    const json = (await fenceline("read raw --format json")).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(json.map((record) => record.body ?? record.body_base64)).toEqual([
      "\ufeffBOM\r",
      "",
      "AP/+",
      "grüß",
      " \t",
    ]);
    const base64 = (await fenceline("read raw --format base64")).out.trim().split("\n");
    expect(base64.map((line) => Buffer.from(line, "base64").length)).toEqual([7, 0, 3, 6, 2]);
  });

  test("from several files and standard input, in order", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await using scratch = await ScratchDirectory.make();
    const file = join(scratch.path, "lines");
    await writeFile(file, "a\nb");
    await at(endpoint)("create x");
    await at(endpoint)(`append x ${file} - ${file}`, "c\n");
    expect((await at(endpoint)("read x")).out).toBe("a\nb\nc\na\nb\n");
  });

  test("more than one batch, a thousand a time", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const input = Array.from({ length: 2_500 }, (_, index) => `${index}\n`).join("");
    await at(endpoint)("create x");
    const appended = await at(endpoint)("append x --output json", input);
    expect(JSON.parse(appended.out)).toMatchObject({ records: 2_500, batches: 3, end: 2_500 });
    expect((await at(endpoint)("read x")).out).toBe(input);
  });
});

describe("an append that is interrupted", () => {
  test("goes on after a lost answer; nothing twice", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    endpoint.faults.push("answer lost", "request lost");
    const input = Array.from({ length: 1_500 }, (_, index) => `${index}\n`).join("");
    const appended = await run(["append", "x", "--endpoint", endpoint.url, "--retry-for", "20"], input);
    expect(appended.code).toBe(0);
    expect((await at(endpoint)("read x")).out).toBe(input);
  });

  test("ends with 6 when it may have happened, says how to complete it, and that completes it", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await using scratch = await ScratchDirectory.make();
    const file = join(scratch.path, "lines");
    await writeFile(file, Array.from({ length: 1_500 }, (_, index) => `${index}\n`).join(""));
    await at(endpoint)("create x");
    endpoint.faults.push("answer lost");
    endpoint.logs.failure = undefined;
    const first = await run(["append", "x", file, "--endpoint", endpoint.url, "--retry-for", "0"]);
    expect(first.code).toBe(6);
    expect(first.err).toContain(
      "0 lines of the input are in log x. The next 1,000 may be there, all of them or none",
    );
    const [, command = ""] = /Complete it with: npx fenceline (.*)/.exec(first.err) ?? [];
    const [, key = ""] = / --key ([0-9a-f]{24}) /.exec(command) ?? [];
    expect(command).toBe(
      `append x ${file} --match-seq-num 0 --resume --key ${key} --endpoint ${endpoint.url}`,
    );
    const second = await at(endpoint)(`${command} --output json`);
    expect(JSON.parse(second.out)).toMatchObject({ records: 1_500, present: 1_000, start: 0, end: 1_500 });
    const third = await at(endpoint)(`${command} --output json`);
    expect(JSON.parse(third.out)).toMatchObject({ records: 1_500, present: 1_500 });
    expect(endpoint.bodies("x")).toEqual(Array.from({ length: 1_500 }, (_, index) => `${index}`));
    // The second run is the first one's producer in a later epoch: a late copy of the first gets in nowhere.
    const [late, completed] = [endpoint.requests[0], endpoint.requests.at(-1)].map((sent) =>
      JSON.parse(sent ?? ""),
    );
    expect([late.producer.id, completed.producer.id]).toEqual([key, key]);
    expect(completed.producer.epoch).toBeGreaterThan(late.producer.epoch);
    const copy = endpoint.client().append("x", late, "utf8");
    await expect(copy).rejects.toMatchObject({ code: "producer_fenced" });
  });

  test("ends with 5 when it certainly did not happen and may be tried again", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    await using gone = await FaultyEndpoint.open();
    await gone[Symbol.asyncDispose]();
    const { code, err } = await at(gone)("append x --match-seq-num 3", "a\n");
    expect(code).toBe(5);
    expect(err).toContain("Nothing was appended.");
    expect(err).toContain(
      "Complete it with the same input and: npx fenceline append x - --match-seq-num 3 --resume",
    );
    expect(err).toMatch(/does not answer.*Is it running\? npm start/);
    const unplaced = await at(gone)("append x", "a\n");
    expect(unplaced.err).toMatch(/with the same input and: npx fenceline append x - --endpoint/);
  });

  test("is given up in the time that --retry-for says when the endpoint is silent; its name is told", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    endpoint.isSilent = true;
    const begunMs = performance.now();
    const args = ["--endpoint", endpoint.url, "--retry-for", "2"];
    const [read, append] = await Promise.all([
      run(["read", "x", ...args]),
      run(["append", "x", ...args], "a\n"),
    ]);
    expect(performance.now() - begunMs).toBeLessThan(8_000);
    for (const { code, err } of [read, append]) {
      expect(code).toBe(5);
      expect(err).toContain(`${endpoint.url} does not answer`);
      expect(err).toMatch(/s of silence.*name another region with --endpoint/);
    }
  }, 20_000);

  test("names the regions of the cloud that runs here", async () => {
    await using scratch = await ScratchDirectory.make();
    const regions = [
      { name: "us-east-1", url: "http://127.0.0.1:1" },
      { name: "us-east-2", url: "http://127.0.0.1:2" },
    ];
    await writeControlFile(scratch.path, { pid: 1, url: "", token: "", regions });
    const error = new NoAnswerError("silent", "none", undefined, "http://127.0.0.1:1");
    expect(await remedyOf(error, scratch.path)).toMatch(
      /^us-east-1 \(http:\/\/127.0.0.1:1\) does not answer.*with --endpoint http:\/\/127.0.0.1:2$/,
    );
    expect(await remedyOf(new Error("else"), scratch.path)).toBeUndefined();
    const byDefault = new NoAnswerError("silent", "none", undefined, "http://127.0.0.1:4701");
    expect(await remedyOf(byDefault, scratch.path)).toMatch(/--endpoint http:\/\/127.0.0.1:1$/);
    expect(await remedyOf(byDefault, join(scratch.path, "no-cloud"))).toMatch(/--endpoint <url>$/);
  });
});

describe("exit codes", () => {
  test("3: a condition failed", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    await at(endpoint)("append x", "a\nb\n");
    const taken = await at(endpoint)("append x --match-seq-num 1", "b\n");
    expect(taken.code).toBe(3);
    expect(taken.err).toContain(
      "was not compared: log x already ends at 2; to compare and go on, add --resume",
    );
    const different = await at(endpoint)("append x --match-seq-num 0 --resume", "a\nX\n");
    expect(different.code).toBe(3);
    for (const { err } of [taken, different]) expect(err).not.toMatch(/Complete it/);
    expect((await at(endpoint)("append x --match-seq-num 1 --resume", "b\nc\n")).code).toBe(0);
    expect(endpoint.bodies("x")).toEqual(["a", "b", "c"]);
  });

  test("4: not found, with how to create it", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const { code, err } = await at(endpoint)("append x", "a\n");
    expect(code).toBe(4);
    expect(err).toContain("there is no log x");
  });

  test.each([
    [[]],
    [["nonsense"]],
    [["append"]],
    [["read", "x", "--from", "-1"]],
    [["read", "x", "--limit", "0"]],
    [["read", "x", "--format", "xml"]],
    [["append", "x", "--match-seq-num", "9007199254740992"]],
    [["logs", "--endpoint", "not a url"]],
    [["create", "x", "--preset", "huge"]],
    [["local", "--port", "99999"]],
    [["local", "regoin", "us-east-1", "down"]],
    [["local", "region", "us-east-1", "dwon"]],
    [["local", "--regions", "0", "--data", "/nowhere"]],
    [["local", "region", "us-east-1", "down", "--data", "/no/such/directory"]],
  ])("2 for %j, with nothing on stdout", async (args) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).not.toBe("");
  });

  test("2: a misspelt word of local is told with the words that there are", async () => {
    expect((await run(["local", "region", "us-east-1", "dwon"])).err).toMatch(/down, up or add, not dwon/);
    expect((await run(["local", "regoin", "us-east-1", "down"])).err).toMatch(/regoin.*region or bookie/);
  });

  test("2: a name or a line that no log takes", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const dotted = await at(endpoint)("create a/../b");
    expect(dotted.code).toBe(2);
    expect(dotted.err).toContain("The log's name is refused: it has a '.' or '..' segment");
    expect(dotted.err).not.toMatch(/openapi|path\/log|Percent-encode/);
    const sizes = "--ensemble 3 --write-quorum 4 --ack-quorum 2 --min-regions 2";
    expect((await at(endpoint)(`create y ${sizes}`)).err).toContain(
      "the quorum sizes must keep --ensemble >= --write-quorum",
    );
    const missing = await at(endpoint)("append x /no/such/file");
    expect(missing.code).toBe(2);
    expect(missing.err).toContain("/no/such/file cannot be read: ENOENT");
    expect(missing.err).toContain("Nothing was appended.");
    expect(missing.err).not.toContain("Complete it");
    const { code, err } = await at(endpoint)("append x", Buffer.alloc(1024 * 1024, "x"));
    expect(code).toBe(2);
    expect(err).toContain("line 1 has 1048576 bytes or more, and a record holds at most 1048568");
  });

  test("5: may succeed later; 1: a defect", async () => {
    await using endpoint = await FaultyEndpoint.open();
    endpoint.logs.failure = new FencelineError("not_ready", {
      message: "recovering",
      details: { retry_after_ms: 9_000 },
    });
    expect((await at(endpoint)("describe x")).code).toBe(5);
    endpoint.logs.failure = new TypeError("defect");
    expect((await at(endpoint)("describe x")).code).toBe(1);
  });

  test("0 for help, on stdout", async () => {
    const { code, out } = await run(["append", "--help"]);
    expect(code).toBe(0);
    expect(out).toContain("--match-seq-num 0 --resume");
  });
});

test("a reader of our output that goes away ends the command quietly", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  await at(endpoint)("append x", "line\n".repeat(3_000));
  const stdout = new PassThrough({ highWaterMark: 16 });
  stdout.on("error", () => {});
  stdout.once("data", () => stdout.destroy());
  const stderr = new Collected();
  const args = ["read", "x", "--endpoint", endpoint.url];
  expect(
    await runCommand(args, { stdin: new PassThrough(), stdout, stderr }, new AbortController().signal),
  ).toBe(0);
  expect(stderr.bytes.toString()).toBe("");
});
