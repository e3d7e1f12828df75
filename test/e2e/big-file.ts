/**
 * A real file of 200,000 lines through the real commands: in through us-east-1, out through us-west-2, the
 * same SHA-256; once undisturbed, once with kill -9 of the cloud in the middle, once with kill -9 of the
 * append itself, which is then run again with --resume. Prints times; exit code 1 if anything differs.
 *
 *     node --import tsx test/e2e/big-file.ts
 */
import type { ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { CloudProcess, exitOf, spawnCommand } from "../local/cloud-process.ts";
import { check, outputOf, sha256, timed } from "./commands.ts";
import { realLines } from "./real-lines.ts";

const LINES = 200_000;
class Scenario {
  constructor(
    private readonly cloud: CloudProcess,
    private readonly file: string,
    private readonly wanted: string,
  ) {}

  async run(log: string, append: (log: string) => Promise<void>): Promise<void> {
    await this.cloud.client("us-east-1").createLog(log, {});
    await timed(`${log}: append through us-east-1`, () => append(log));
    const read = await timed(`${log}: read through us-west-2`, () =>
      outputOf(
        spawnCommand(["read", log, "--endpoint", this.cloud.url("us-west-2")], ["ignore", "pipe", "inherit"]),
      ),
    );
    check(read.code === 0, `${log}: read ended with ${read.code}`);
    check(sha256(read.out) === this.wanted, `${log}: the file came back changed`);
    process.stdout.write(`${log}: the same ${this.wanted}\n`);
  }

  start(log: string, ...flags: string[]): ChildProcess {
    const endpoint = ["--endpoint", this.cloud.url("us-east-1")];
    const args = [
      "append",
      log,
      this.file,
      "--match-seq-num",
      "0",
      "--output",
      "json",
      ...endpoint,
      ...flags,
    ];
    return spawnCommand(args, ["ignore", "pipe", "inherit"]);
  }

  async complete(log: string, ...flags: string[]): Promise<void> {
    await this.completed(outputOf(this.start(log, ...flags)));
  }

  async completed(running: ReturnType<typeof outputOf>): Promise<void> {
    const { code, out } = await running;
    check(code === 0, `append ended with ${code}`);
    const { records, start, end, present } = JSON.parse(out.toString());
    check(records === LINES && start === 0 && end === LINES, `append counted ${out}`);
    if (present > 0) process.stdout.write(`${present} lines were found in their place\n`);
  }

  /** Waits until the append is in its middle. */
  async middle(log: string, fraction: number): Promise<void> {
    for (;;) {
      const { tail } = await this.cloud.client("us-west-2").tail(log);
      check(tail < LINES, `${log}: the append was over before the kill`);
      if (tail >= LINES * fraction) {
        process.stdout.write(`${log}: kill -9 at ${tail} lines\n`);
        return;
      }
    }
  }
}

async function main(): Promise<void> {
  await using scratch = await ScratchDirectory.make();
  const file = join(scratch.path, "lines");
  const bytes = await realLines(LINES);
  await writeFile(file, bytes);
  process.stdout.write(`${LINES} real lines, ${bytes.length} bytes, SHA-256 ${sha256(bytes)}\n`);
  await using cloud = await CloudProcess.start(join(scratch.path, "data"));
  const scenario = new Scenario(cloud, file, sha256(bytes));
  await scenario.run("undisturbed", (log) => scenario.complete(log));
  await scenario.run("cloud-killed", async (log) => {
    const running = outputOf(scenario.start(log));
    for (const fraction of [0.3, 0.6]) {
      await scenario.middle(log, fraction);
      await cloud.kill();
      await cloud.restart();
    }
    await scenario.completed(running);
  });
  await scenario.run("append-killed", async (log) => {
    const child = scenario.start(log);
    await scenario.middle(log, 0.5);
    child.kill("SIGKILL");
    await exitOf(child);
    await scenario.complete(log, "--resume");
  });
}

await main();
