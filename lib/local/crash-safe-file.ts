/** Small files that are whole or not there, also after the power fails. */
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Replaces the file's content: written aside, synced, renamed, the folder synced. */
export async function writeCrashSafe(path: string, text: string, mode = 0o644): Promise<void> {
  const aside = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(aside, "w", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** The file's text, or undefined if there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Where folders cannot be opened (Windows), a rename is as durable as the file system makes it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  if (folder === undefined) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
