/** A process that is killed in the middle of its writes loses nothing that it was answered. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { LevelLeaseStore } from "../../lib/adapters/level/level-lease-store.ts";
import { LevelMetadataStore } from "../../lib/adapters/level/level-metadata-store.ts";
import { entryId, ledgerId, logIncarnation } from "../../lib/protocol/ids.ts";
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
}

describe("kill -9 of a process that writes to LevelDB", () => {
  it("leaves everything answered in place, time after time in one directory", async () => {
    await using scratch = await ScratchDirectory.make();
    const lines: string[] = [];
    for (const [round, count] of [200, 900].entries()) {
      lines.push(...(await writeAndKill(scratch.path, round, count)));
      await expectAllThere(scratch.path, lines);
    }
  }, 70_000);
});
