/** kill -9 in the middle of appends, of the cloud and of the command: each acknowledged batch once. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../lib/cli/main.ts";
import type { LogClient } from "../../lib/client/log-client.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { CloudProcess, exitOf, spawnCommand } from "./cloud-process.ts";
import { batchOf } from "./running-cloud.ts";

const LINES = 20_000;
const GROUP = 1_000;

const line = (index: number) => `line ${index} ${"x".repeat(index % 90)}`;
const linesFrom = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, index) => `${line(start + index)}\n`).join("");

/** Collects what a command writes. */
function collector() {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

async function command(args: readonly string[], stdin: AsyncIterable<Buffer>) {
  const [stdout, stderr] = [collector(), collector()];
  const streams = { stdin, stdout: stdout.stream, stderr: stderr.stream };
  const code = await runCommand(args, streams, new AbortController().signal);
  return { code, out: stdout.text(), err: stderr.text() };
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function tailOf(client: LogClient, log: string, atLeast: number): Promise<number> {
  for (;;) {
    const { tail } = await client.tail(log);
    if (tail >= atLeast) return tail;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("kill -9", () => {
  test("of the cloud, twice in one append: the command goes on, and the file is there exactly", async () => {
    await using scratch = await ScratchDirectory.make();
    await using cloud = await CloudProcess.start(join(scratch.path, "data"));
    await cloud.client("us-east-1").createLog("words", {});
    const killAt = [7_000, 13_000];
    const kills: Promise<void>[] = [];
    const input = (async function* () {
      for (let start = 0; start < LINES; start += GROUP) {
        // The batch before is on its way when the next lines are asked for.
        if (killAt.includes(start)) kills.push(cloud.kill().then(() => cloud.restart()));
        yield Buffer.from(linesFrom(start, start + GROUP));
      }
    })();
    const flags = ["--endpoint", cloud.url("us-east-1"), "--retry-for", "60", "--output", "json"];
    const appended = await command(["append", "words", "--match-seq-num", "0", ...flags], input);
    await Promise.all(kills);
    expect(kills).toHaveLength(2);
    expect(appended.code, appended.err).toBe(0);
    expect(JSON.parse(appended.out)).toMatchObject({
      records: LINES,
      start: 0,
      end: LINES,
      contiguous: true,
    });
    const read = await command(["read", "words", "--endpoint", cloud.url("us-west-2")], nothing());
    expect(read.out === linesFrom(0, LINES)).toBe(true);
  }, 90_000);

  test("of the cloud: acknowledged batches are there once, one in doubt whole or not at all", async () => {
    await using scratch = await ScratchDirectory.make();
    await using cloud = await CloudProcess.start(join(scratch.path, "data"));
    const client = cloud.client("us-east-1");
    await client.createLog("words", {});
    const sizes = [1, 10, 100];
    const sent: string[][] = [];
    let acknowledged = 0;
    const appending = (async () => {
      for (let number = 0; ; number++) {
        const batch = Array.from({ length: sizes[number % 3] ?? 1 }, (_, index) => `${number}.${index}`);
        sent.push(batch);
        await client.append("words", batchOf(...batch), "utf8");
        acknowledged = sent.length;
      }
    })();
    const failed = expect(appending).rejects.toMatchObject({ name: "NoAnswerError" });
    await tailOf(cloud.client("us-west-2"), "words", 500);
    await cloud.kill();
    await failed;
    await cloud.restart();
    const { out } = await command(["read", "words", "--endpoint", cloud.url("us-west-2")], nothing());
    const found = out.split("\n").slice(0, -1);
    const certain = sent.slice(0, acknowledged).flat();
    const inDoubt = sent.slice(acknowledged).flat();
    expect([certain, [...certain, ...inDoubt]]).toContainEqual(found);
  }, 60_000);

  test("of the command: run again with --resume it completes the file exactly", async () => {
    await using scratch = await ScratchDirectory.make();
    await using cloud = await CloudProcess.start(join(scratch.path, "data"));
    const east = cloud.client("us-east-1");
    await east.createLog("words", {});
    await east.append("words", batchOf("was here before"), "utf8");
    const flags = ["--match-seq-num", "1", "--endpoint", cloud.url("us-east-1"), "--output", "json"];
    const child = spawnCommand(["append", "words", ...flags], ["pipe", "ignore", "inherit"]);
    // More than the log has when the kill comes, so that a batch is on its way.
    child.stdin?.on("error", () => {});
    child.stdin?.write(linesFrom(0, 15_000));
    const tail = await tailOf(east, "words", 4_000);
    child.kill("SIGKILL");
    await exitOf(child);
    expect(tail).toBeLessThan(LINES);
    const file = join(scratch.path, "words.txt");
    await writeFile(file, linesFrom(0, LINES));
    const resumed = await command(["append", "words", file, ...flags, "--resume"], nothing());
    expect(resumed.code, resumed.err).toBe(0);
    const summary = JSON.parse(resumed.out);
    expect(summary).toMatchObject({ records: LINES, start: 1, end: LINES + 1 });
    expect(summary.present).toBeGreaterThanOrEqual(tail - 1);
    const read = await command(
      ["read", "words", "--from", "1", "--endpoint", cloud.url("us-west-2")],
      nothing(),
    );
    expect(read.out === linesFrom(0, LINES)).toBe(true);
  }, 60_000);
});
