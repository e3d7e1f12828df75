/** LD1, LD2: opening a directory that is in use, damaged or something else says so, and what to do. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { LevelLeaseStore } from "../../lib/adapters/level/level-lease-store.ts";
import { LevelMetadataStore } from "../../lib/adapters/level/level-metadata-store.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { ScratchDirectory } from "./scratch-directory.ts";

let scratch: ScratchDirectory;
beforeEach(async () => {
  scratch = await ScratchDirectory.make();
});
afterEach(() => scratch.remove());

async function refusal(opening: Promise<unknown>): Promise<FencelineError> {
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FencelineError)) throw new Error(`not refused clearly: ${error}`);
  expect(error).toMatchObject({ code: "unavailable", sideEffects: "none" });
  expect(error.message).toContain(scratch.path);
  return error;
}

/** A store that was used, and closed. */
async function used(directory: string): Promise<void> {
  await using store = await LevelEntryStore.open(directory);
  await store.put({ kind: "incarnation" }, { kind: "incarnation", storage: "s1" });
}

async function removeFiles(pattern: RegExp): Promise<void> {
  const names = (await readdir(scratch.path)).filter((name) => pattern.test(name));
  expect(names).not.toEqual([]);
  for (const name of names) await rm(join(scratch.path, name));
}

describe("opening a LevelDB store", () => {
  it("makes directories that are not there, and finds what was stored when opened again", async () => {
    const path = join(scratch.path, "us-east-1", "b1");
    await used(path);
    await using store = await LevelEntryStore.open(path);
    expect(await store.get({ kind: "incarnation" })).toEqual({ kind: "incarnation", storage: "s1" });
  });

  it("refuses a directory in use, names the remedy, and may succeed later", async () => {
    const first = await LevelEntryStore.open(scratch.path);
    const error = await refusal(LevelEntryStore.open(scratch.path));
    expect(error.message).toMatch(/in use by another process.*stop that one/);
    expect(error.retryable).toBe(true);
    await first.close();
    await (await LevelEntryStore.open(scratch.path)).close();
  });

  it.each([
    ["the CURRENT file is gone", () => removeFiles(/^CURRENT$/)],
    ["the manifest is gone", () => removeFiles(/^MANIFEST/)],
    ["CURRENT is garbage", () => writeFile(join(scratch.path, "CURRENT"), "garbage")],
    ["the manifest is garbage", () => overwriteManifest()],
  ])("LD2: refuses a damaged directory and never begins it anew: %s", async (_damage, damage) => {
    await used(scratch.path);
    await damage();
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await refusal(LevelEntryStore.open(scratch.path));
      expect(error.message).toMatch(/damaged|could not be opened/);
      expect(error.retryable).toBe(false);
    }
  });

  it("makes a database where a kill cut its making short", async () => {
    await writeFile(join(scratch.path, "MANIFEST-000001"), "cut sh");
    await writeFile(join(scratch.path, "LOCK"), "");
    await used(scratch.path);
  });

  it("LD1: refuses the directory of another kind of store", async () => {
    await used(scratch.path);
    for (const open of [LevelMetadataStore.open, LevelLeaseStore.open]) {
      const error = await refusal(open(scratch.path));
      expect(error.message).toMatch(/holds entry-store 1, not (metadata|lease)-store 1/);
    }
    await used(scratch.path);
  });

  it("LD1: refuses a LevelDB database of something else", async () => {
    const foreign = new ClassicLevel(scratch.path);
    await foreign.put("a", "b");
    await foreign.close();
    expect((await refusal(LevelEntryStore.open(scratch.path))).message).toMatch(/something else/);
  });

  it("refuses a path that is a file, or lies under one", async () => {
    const path = join(scratch.path, "file");
    await writeFile(path, "text");
    await refusal(LevelEntryStore.open(path));
    await refusal(LevelEntryStore.open(join(path, "b1")));
  });

  it("leaves other files in the directory alone", async () => {
    await mkdir(join(scratch.path, "notes"));
    await writeFile(join(scratch.path, "README"), "text");
    await used(scratch.path);
    expect(await readdir(scratch.path)).toEqual(expect.arrayContaining(["notes", "README"]));
  });
});

async function overwriteManifest(): Promise<void> {
  const [name] = (await readdir(scratch.path)).filter((one) => one.startsWith("MANIFEST"));
  await writeFile(join(scratch.path, name ?? ""), "garbage".repeat(100));
}
