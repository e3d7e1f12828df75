/** A process that is killed in the middle of its writes loses nothing that it was answered. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { LevelInboxStore } from "../../lib/adapters/level/level-inbox-store.ts";
import { LevelLeaseStore } from "../../lib/adapters/level/level-lease-store.ts";
import { LevelMetadataStore } from "../../lib/adapters/level/level-metadata-store.ts";
import { entryId, ledgerId, logIncarnation } from "../../lib/protocol/ids.ts";
import { all, ticketsOf } from "../contracts/inbox-request-cases.ts";
import { inboxTicket } from "../contracts/sample-posts.ts";
import { ScratchDirectory } from "./scratch-directory.ts";

const writer = fileURLToPath(new URL("./level-writer.ts", import.meta.url));

/** What the writer was answered before it was killed, `lines` lines into its work. */
async function writeAndKill(directory: string, round: number, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, ["--import", "tsx", writer, directory, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (printed.split("\n").length > lines) child.kill("SIGKILL");
  });
  const giveUp = setTimeout(() => child.kill("SIGKILL"), 30_000);
  const [, signal] = await once(child, "close");
  clearTimeout(giveUp);
  expect(signal).toBe("SIGKILL");
  const whole = printed.slice(0, printed.lastIndexOf("\n")).split("\n");
  expect(whole.length).toBeGreaterThanOrEqual(lines);
  return whole;
}

const valuesOf = (lines: readonly string[], what: string): number[] =>
  lines.filter((line) => line.startsWith(`${what} `)).map((line) => Number(line.split(" ")[1]));

async function expectAllThere(directory: string, lines: readonly string[]): Promise<void> {
  await using entries = await LevelEntryStore.open(`${directory}/entries`);
  await using metadata = await LevelMetadataStore.open(`${directory}/metadata`);
  await using leases = await LevelLeaseStore.open(`${directory}/leases`);
  const slot = (id: number) => ({ kind: "slot", ledgerId: ledgerId(1), entryId: entryId(id) }) as const;
  const stored = valuesOf(lines, "entry");
  for (const id of stored) expect((await entries.get(slot(id)))?.kind).toBe("original");
  for (const id of valuesOf(lines, "deleted")) expect(await entries.get(slot(id))).toBeUndefined();
  const item = await metadata.get({ partition: "counter", sort: "item" }, "consistent");
  const lease = await leases.read(logIncarnation("l0g"));
  const counted = Math.max(...valuesOf(lines, "counter"));
  const renewed = Math.max(...valuesOf(lines, "lease"));
  // The write that was in flight may have happened too.
  expect(item?.item.kind === "log" ? item.item.trimPoint - counted : undefined).toBeOneOf([0, 1]);
  expect((lease?.lease.expiresAtMs ?? 0) - renewed).toBeOneOf([0, 1]);
  expect(Math.min(stored.length, counted, renewed)).toBeGreaterThan(0);
  await expectInbox(directory, valuesOf(lines, "posted"), valuesOf(lines, "answered"));
}

async function expectInbox(directory: string, posted: readonly number[], answered: readonly number[]) {
  await using inbox = await LevelInboxStore.open(`${directory}/inbox`, { nowMs: () => 0 });
  const log = logIncarnation("l0g");
  const page = await all(inbox, log, inboxTicket(1), { requestsMax: 100_000 });
  expect(page.damaged).toEqual([]);
  const found = new Set(ticketsOf(page).map(({ revision }) => revision));
  expect(posted.filter((revision) => !found.has(revision))).toEqual([]);
  expect(answered.filter((revision) => found.has(revision))).toEqual([]);
  for (const revision of answered) {
    expect(await inbox.readAnswer(log, inboxTicket(revision))).toEqual({ kind: "not-served" });
  }
  expect(Math.min(posted.length, answered.length)).toBeGreaterThan(0);
}

/** LI1: nothing is there that a sweep does not find. */
async function expectSwept(directory: string, lines: readonly string[]): Promise<void> {
  await using inbox = await LevelInboxStore.open(`${directory}/inbox`, { nowMs: () => 0 });
  let swept = 0;
  for (let count = -1; count !== 0; swept += count) count = await inbox.sweep(1e15);
  expect(swept).toBeGreaterThanOrEqual(valuesOf(lines, "posted").length + valuesOf(lines, "answered").length);
  expect(await all(inbox, logIncarnation("l0g"), inboxTicket(1))).toEqual({
    requests: [],
    damaged: [],
    isWhole: true,
  });
}

describe("kill -9 of a process that writes to LevelDB", () => {
  it("leaves everything answered in place, time after time in one directory", async () => {
    await using scratch = await ScratchDirectory.make();
    const lines: string[] = [];
    for (const [round, count] of [200, 900].entries()) {
      lines.push(...(await writeAndKill(scratch.path, round, count)));
      await expectAllThere(scratch.path, lines);
    }
    await expectSwept(scratch.path, lines);
  }, 70_000);
});
