/**
 * A real file read from us-west-2, with regions as far apart as those of AWS and storage as slow as S3, while
 * us-west-2's own bookies are taken down and brought back, refusing and hanging. The same SHA-256 each time,
 * and nothing on standard error but what was asked for. Prints times; exit code 1 if anything differs.
 *
 *     node --import tsx test/e2e/wan-read.ts [lines]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Control } from "../../lib/local/control-client.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { CloudProcess, spawnCommand } from "../local/cloud-process.ts";
import { check, outputOf, sha256, timed } from "./commands.ts";
import { realLines } from "./real-lines.ts";

const LINES = Number(process.argv[2] ?? 200_000);
const READER = "us-west-2";
/** After the first records came; a read of 200,000 lines takes some fifteen seconds from there. */
const LOSS_AFTER_MS = 1_000;
const LOSS_MS = 5_000;
/** No page may take longer: the slowest bookie's silence, a failover across the country, and some patience. */
const PAGE_MS_MAX = 5_000;

const say = (line: string) => process.stdout.write(`${line}\n`);
const pause = (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs));

const undisturbed = async () => {};

interface Timing {
  readonly answers: number;
  readonly totalMs: number;
  readonly longestMs: number;
  readonly attempts: number;
  readonly hedges: number;
  readonly failovers: number;
  readonly winners: Readonly<Record<string, number>>;
}

class Reader {
  constructor(
    private readonly cloud: CloudProcess,
    private readonly control: Control,
    private readonly wanted: string,
  ) {}

  /** Reads the whole file while `meanwhile` goes on, which must be over before it. */
  async read(what: string, meanwhile: () => Promise<void>): Promise<Timing> {
    const args = ["read", "file", "--endpoint", this.cloud.url(READER), "--timing"];
    const child = spawnCommand(args, ["ignore", "pipe", "pipe"]);
    const chunks: Buffer[] = [];
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
    let isOver = false;
    const read = timed(`${what}: read from ${READER}`, () => outputOf(child)).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    await meanwhile();
    check(
      !isOver || meanwhile === undisturbed,
      `${what}: the read was over before the bookies were back; it needs more lines`,
    );
    const { code, out } = await read;
    const said = Buffer.concat(chunks).toString();
    check(code === 0, `${what}: read ended with ${code}: ${said}`);
    check(sha256(out) === this.wanted, `${what}: the file came back changed`);
    const lines = said.trim().split("\n");
    check(lines.length === 1, `${what}: standard error says more than the times: ${said}`);
    say(`${what}: ${lines[0]}`);
    const longestMs = Number(/the longest in (\d+) ms/.exec(said)?.[1]);
    check(longestMs <= PAGE_MS_MAX, `${what}: a page took ${longestMs} ms, more than ${PAGE_MS_MAX}`);
    return { longestMs, ...countsIn(said) };
  }

  /** Down for a while, and back. */
  async lose(state: "refusing" | "hanging"): Promise<void> {
    await pause(LOSS_AFTER_MS);
    const bookies = await this.control.setBookies(READER, state);
    check(bookies.length === 2, `two bookies were to be lost, these were: ${bookies}`);
    await pause(LOSS_MS);
    await this.control.setBookies(READER, "up");
    await pause(LOSS_AFTER_MS);
  }
}

function countsIn(said: string): Omit<Timing, "longestMs"> {
  const count = (pattern: RegExp) => Number(pattern.exec(said)?.[1]);
  const winners = /answered from: (.*)/.exec(said)?.[1] ?? "";
  return {
    answers: count(/(\d+) answers/),
    totalMs: count(/answers in (\d+) ms/),
    attempts: count(/(\d+) requests/),
    hedges: count(/(\d+) hedges/),
    failovers: count(/(\d+) failovers/),
    winners: Object.fromEntries(
      winners.split(", ").map((one) => [one.replace(/ \d+$/, ""), Number(/\d+$/.exec(one)?.[0])]),
    ),
  };
}

async function main(): Promise<void> {
  await using scratch = await ScratchDirectory.make();
  const file = join(scratch.path, "lines");
  const dataDir = join(scratch.path, "data");
  const bytes = await realLines(LINES);
  await writeFile(file, bytes);
  say(`${LINES} real lines, ${bytes.length} bytes, SHA-256 ${sha256(bytes)}`);
  await using cloud = await CloudProcess.start(dataDir, "--wan");
  await cloud.client("us-east-1").createLog("file", {});
  const appended = await timed("append through us-east-1", () => {
    const args = ["append", "file", file, "--endpoint", cloud.url("us-east-1")];
    return outputOf(spawnCommand(args, ["ignore", "pipe", "inherit"]));
  });
  check(appended.code === 0, `append ended with ${appended.code}`);

  const reader = new Reader(cloud, await Control.open(dataDir), sha256(bytes));
  const steady = await reader.read("undisturbed", undisturbed);
  check(steady.hedges <= 0.055 * steady.attempts, `undisturbed: ${steady.hedges} hedges are too many`);
  for (const state of ["refusing", "hanging"] as const) {
    const lost = await reader.read(state, () => reader.lose(state));
    const afar = Object.entries(lost.winners).filter(([from]) => from.startsWith("region "));
    check(afar.length > 0, `${state}: no answer came from another region, so nothing was lost`);
    check(lost.failovers > 0, `${state}: nothing was failed over`);
  }
}

await main();
