/**
 * Regions that own logs, under load from all of them at once, with everything that may happen to them: owners
 * transferred, regions refusing and hanging and back, kill -9 of everything. What `fenceline verify` sees is
 * printed, and how long no append was accepted; exit code 1 if a promise is broken, if appends do not resume
 * within the sum in owner-limits.ts and what this machine adds, or if outcomes are unknown without a fault.
 *
 *     node --import tsx test/e2e/owners.ts
 */
import { join } from "node:path";
import { LogClient } from "../../lib/client/log-client.ts";
import { retrying } from "../../lib/client/retry.ts";
import type { VerifyReport } from "../../lib/client/verify/report.ts";
import { type VerifyFields, verify, verifyLogName } from "../../lib/client/verify/verify.ts";
import { ownerLimits } from "../../lib/protocol/log/ownership/owner-limits.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { CloudProcess, exitOf, spawnCommand } from "../local/cloud-process.ts";

const REGIONS = ["us-east-1", "us-east-2", "us-west-2"] as const;

/** An appender gives up on a region that hangs, and goes to the next one; without a fault it is patient. */
const CLIENT_TIMEOUT_MS = 8_000;
const CLIENT_TIMEOUT_CALM_MS = 30_000;
const MEDDLE_AFTER_MS = 2_500;
const OUTAGE_MS = 6_500;
const TRANSFERS_AT_ONCE = 4;
/** Several times what one may take. */
const TRANSFER_PATIENCE_MS = 3 * ownerLimits.transferTimeoutMs;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`failed: ${what}`);
}

async function inTurns<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of left) await work(one);
    }),
  );
}

class Load {
  strongReads = 0;
  /** The longest time without an accepted append when nothing is wrong: how slow this machine is. */
  #calmGapMs = 0;

  constructor(
    private readonly cloud: CloudProcess,
    private readonly dataDir: string,
  ) {}

  /** Runs a workload, and `meddle` once it is under way; `outageMs` is time in which nothing could answer. */
  async run(
    name: string,
    fields: Partial<VerifyFields>,
    meddle?: (log: string) => Promise<number>,
  ): Promise<VerifyReport> {
    const timeoutMs = meddle === undefined ? CLIENT_TIMEOUT_CALM_MS : CLIENT_TIMEOUT_MS;
    const began = performance.now();
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const meddling = begun
      .then(() => pause(MEDDLE_AFTER_MS))
      .then(() => meddle?.(verifyLogName(name, 0)) ?? 0);
    const running = verify({
      clients: REGIONS.map((region) => new LogClient({ endpoint: this.cloud.url(region), timeoutMs })),
      prefix: name,
      appenders: 100,
      logs: 1,
      durationMs: 10_000,
      recordBytes: 40,
      followOwner: false,
      plain: false,
      unknownShareMax: meddle === undefined ? 0 : 0.5,
      readsFailedShareMax: meddle === undefined ? 0.01 : 0.5,
      patienceMs: 60_000,
      onStart: begin,
      ...fields,
    });
    const [report, outageMs] = await Promise.all([running, meddling]);
    this.strongReads += report.strongReads;
    process.stdout.write(`${name}: ${JSON.stringify({ ...report, codes: JSON.stringify(report.codes) })}\n`);
    process.stdout.write(`${name}: ${((performance.now() - began) / 1_000).toFixed(1)} s in all\n`);
    check(
      report.passed,
      `${name}: ${report.violationCount} violations, ${report.unknown} unknown outcomes, ` +
        `${report.strongReadsFailed} strong reads without an answer`,
    );
    // Of one log: with many of them, others go on while one stands still.
    const gapMs = report.longestGapOfOneLogMs;
    if (meddle === undefined) this.#calmGapMs = Math.max(this.#calmGapMs, gapMs);
    // A busy machine adds to each step of a recovery what it adds to an append when nothing is wrong. Where a
    // log has one appender, a region that hangs holds that up for its own patience.
    const isAlone = (fields.logs ?? 1) > 1 && meddle !== undefined;
    const busyMs = 2 * this.#calmGapMs + (isAlone ? CLIENT_TIMEOUT_MS : 0);
    const aimMs = Math.round(ownerLimits.resumeMs + outageMs + busyMs);
    process.stdout.write(`${name}: no append to one log for ${gapMs} ms, of ${aimMs} ms allowed\n`);
    check(gapMs <= aimMs, `${name}: no append to one log for ${gapMs} ms`);
    return report;
  }

  async setRegion(region: string, state: string, ...flags: string[]): Promise<void> {
    const args = ["local", "region", region, state, "--data", this.dataDir, ...flags];
    check((await exitOf(spawnCommand(args, ["ignore", "ignore", "inherit"]))) === 0, `${region} ${state}`);
  }

  /** The owner's region goes away for a while, and comes back. */
  async loseOwner(log: string, manner: string): Promise<number> {
    const owner = (await this.cloud.client("us-east-1").owner(log)).owner ?? "us-east-1";
    await this.setRegion(owner, "down", "--manner", manner);
    process.stdout.write(`${log}: ${owner}, its owner, is ${manner}\n`);
    await pause(OUTAGE_MS);
    await this.setRegion(owner, "up");
    return 0;
  }

  async transferRound(log: string): Promise<number> {
    for (const [index, to] of REGIONS.entries()) {
      const asked = this.cloud.client(REGIONS[(index + 1) % REGIONS.length] ?? to);
      const began = performance.now();
      const { owner } = await asked.transferOwner(log, to);
      process.stdout.write(`${log}: ${to} owns it after ${Math.round(performance.now() - began)} ms\n`);
      check(owner === to, `${log}: ${owner} owns it, and not ${to}`);
    }
    return 0;
  }

  /** A good share of many logs goes to other regions, some at a time, while all are appended to. */
  async transferMany(logs: readonly string[]): Promise<number> {
    const names: readonly (string | null)[] = REGIONS;
    const owners = new Map<string, number>();
    const began = performance.now();
    await inTurns(logs, TRANSFERS_AT_ONCE, async (log) => {
      const client = this.cloud.client("us-east-2");
      const before = (await client.owner(log)).owner;
      const to = REGIONS[(names.indexOf(before) + 1) % REGIONS.length] ?? "us-west-2";
      const { owner } = await retrying({ patienceMs: TRANSFER_PATIENCE_MS }, client, (one) =>
        one.transferOwner(log, to),
      );
      check(owner === to, `${log}: ${owner} owns it, and not ${to}`);
      owners.set(to, (owners.get(to) ?? 0) + 1);
    });
    const tookMs = Math.round(performance.now() - began);
    process.stdout.write(`${logs.length} logs have other owners after ${tookMs} ms: `);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(owners))}\n`);
    return 0;
  }

  async kill(): Promise<number> {
    const began = performance.now();
    await this.cloud.kill();
    await this.cloud.restart();
    const outageMs = performance.now() - began;
    process.stdout.write(`kill -9, and back after ${Math.round(outageMs)} ms\n`);
    return outageMs;
  }
}

async function main(): Promise<void> {
  await using scratch = await ScratchDirectory.make();
  const dataDir = join(scratch.path, "data");
  await using cloud = await CloudProcess.start(dataDir);
  const load = new Load(cloud, dataDir);
  await load.run("calm", { durationMs: 5_000 });
  await load.run("calm-100-logs", { logs: 100, durationMs: 5_000 });
  await load.run("followed", { followOwner: true, durationMs: 4_000 });
  await load.run("transferred", {}, (log) => load.transferRound(log));
  const some = Array.from({ length: 24 }, (_, index) => verifyLogName("transferred-100-logs", index));
  await load.run("transferred-100-logs", { logs: 100, durationMs: 14_000 }, () => load.transferMany(some));
  await load.run("transferred-plain", { plain: true }, (log) => load.transferRound(log));
  await load.run("killed", { durationMs: 12_000 }, () => load.kill());
  await load.run("killed-100-logs", { logs: 100, durationMs: 12_000 }, () => load.kill());
  for (const manner of ["refusing", "hanging"]) {
    await load.run(manner, { durationMs: 16_000 }, (log) => load.loseOwner(log, manner));
    await load.run(`${manner}-100-logs`, { logs: 100, durationMs: 16_000 }, (log) =>
      load.loseOwner(log, manner),
    );
  }
  process.stdout.write(`${load.strongReads} strong reads in another region, each found its record\n`);
}

await main();
