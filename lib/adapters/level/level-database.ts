/**
 * Opening a LevelDB directory: one store to a directory, one process at a time, errors that say what to do.
 *
 * LD1 A directory once used by one kind of store is never opened as another kind.
 * LD2 A directory that held a database and lost its index is refused, never begun anew: an emptied store
 *     would answer "absent" for what it had acknowledged (rule 21).
 * LD3 The names of new directories are durable before the first write is acknowledged.
 */
import { mkdir, open, readdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ClassicLevel } from "classic-level";
import { FencelineError, type SideEffects, unavailable } from "../../protocol/errors.ts";

/** Keys are ASCII strings, which sort alike everywhere; values are bytes. */
export type LevelDatabase = ClassicLevel<string, Uint8Array>;

type StoreKind = "entry-store" | "metadata-store" | "lease-store" | "inbox-store";

/** Sorts before every key of every store. */
const KIND_KEY = "!fenceline";
const KIND_FORMAT = 1;

/** Opens or makes the database. Throws `unavailable` if another process has it open or if it is damaged. */
export async function openLevelDatabase(directory: string, kind: StoreKind): Promise<LevelDatabase> {
  const path = resolve(directory);
  const isNew = await prepareDirectory(path);
  const database: LevelDatabase = new ClassicLevel(path, {
    keyEncoding: "utf8",
    valueEncoding: "view",
    createIfMissing: isNew,
  });
  try {
    await database.open();
  } catch (error) {
    throw openFailure(path, error);
  }
  try {
    await checkKind(database, path, kind);
  } catch (error) {
    await database.close();
    throw openFailure(path, error);
  }
  return database;
}

/** What a failed call to an open database is to its caller. */
export function levelFailure(what: string, error: unknown, sideEffects: SideEffects): FencelineError {
  if (error instanceof FencelineError) return error;
  return unavailable(`${what}: ${reasonOf(error)}`, sideEffects, error);
}

/** Makes the directory if it is not there; says whether a database is still to be made in it. */
async function prepareDirectory(path: string): Promise<boolean> {
  try {
    const firstMade = await mkdir(path, { recursive: true, mode: 0o700 });
    if (firstMade !== undefined) await syncNames(path, dirname(firstMade));
    const names = await readdir(path);
    if (names.includes("CURRENT")) return false;
    // A kill in the middle of making a database leaves a manifest, but no data file.
    const remains = names.filter((name) => /^\d+\.(ldb|sst|log)$/.test(name));
    if (remains.length === 0) return true;
    throw unusable(
      `${path} has data files (${remains.slice(0, 3).join(", ")}) but no CURRENT file: ` +
        "it is damaged; restore it from a copy, or remove it to give up what it held",
    );
  } catch (error) {
    throw error instanceof FencelineError ? error : unusable(`${path}: ${reasonOf(error)}`, error);
  }
}

/** Makes the names from `path` up to the one in `top` durable (LD3). */
async function syncNames(path: string, top: string): Promise<void> {
  if (process.platform === "win32") return; // Directories cannot be opened there.
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const handle = await open(parent, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (parent === top || parent === dirname(parent)) return;
  }
}

/** LD1. The name of the kind is written before anything else. */
async function checkKind(database: LevelDatabase, path: string, kind: StoreKind): Promise<void> {
  const wanted = `${kind} ${KIND_FORMAT}`;
  const found = await database.get(KIND_KEY);
  if (found === undefined) {
    const [anyKey] = await database.keys({ limit: 1 }).all();
    if (anyKey !== undefined)
      throw unusable(`${path} is a LevelDB database of something else; choose another`);
    await database.batch([{ type: "put", key: KIND_KEY, value: new TextEncoder().encode(wanted) }], {
      sync: true,
    });
    return;
  }
  const text = new TextDecoder().decode(found);
  if (text !== wanted) throw unusable(`${path} holds ${text}, not ${wanted}; choose another directory`);
}

function openFailure(path: string, error: unknown): FencelineError {
  if (error instanceof FencelineError) return error;
  switch (codeOf(error)) {
    case "LEVEL_LOCKED":
      return unavailable(
        `${path} is in use by another process, or by another store of this one; ` +
          "stop that one, or choose another directory",
        "none",
        error,
      );
    case "LEVEL_CORRUPTION":
      return unusable(
        `${path} is damaged (${reasonOf(error)}); ` +
          "restore it from a copy, or remove it to give up what it held",
        error,
      );
    default:
      return unusable(`${path} could not be opened: ${reasonOf(error)}`, error);
  }
}

/** Trying again does not help until somebody has done something. */
function unusable(message: string, cause?: unknown): FencelineError {
  return new FencelineError("unavailable", { message, retryable: false, sideEffects: "none", cause });
}

/** LevelDB's own reason stands behind the one of the wrapper: "Database failed to open". */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

function reasonOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof Error ? root.message : String(root);
}

function codeOf(error: unknown): unknown {
  const root = rootOf(error);
  return root instanceof Error && "code" in root ? root.code : undefined;
}
