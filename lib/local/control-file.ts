/** Where a running cloud is controlled: a file in its data directory that only its owner can read. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere, writeCrashSafe } from "./crash-safe-file.ts";
import { LocalError, NoCloudError } from "./local-error.ts";

export interface ControlAddress {
  readonly pid: number;
  /** The control endpoint. */
  readonly url: string;
  /** Must come with each control request, so that no web page can send one. */
  readonly token: string;
  readonly regions: readonly { readonly name: string; readonly url: string }[];
}

const OWNER_ONLY = 0o600;

export async function writeControlFile(dataDir: string, control: ControlAddress): Promise<void> {
  await writeCrashSafe(controlPath(dataDir), `${JSON.stringify(control, null, 2)}\n`, OWNER_ONLY);
}

/** Throws NoCloudError if no cloud has run on this directory, or the last one was stopped. */
export async function readControlFile(dataDir: string): Promise<ControlAddress> {
  const text = await readIfThere(controlPath(dataDir)).catch((error: unknown) => {
    if (!isUnderFile(error)) throw error;
    throw new LocalError(
      `no cloud runs on ${dataDir}: it is a file, or under one, and --data names a folder`,
    );
  });
  if (text !== undefined) return JSON.parse(text) as ControlAddress;
  throw new NoCloudError(dataDir, `no cloud runs on ${dataDir}: it has no control.json`);
}

export async function removeControlFile(dataDir: string): Promise<void> {
  await rm(controlPath(dataDir), { force: true });
}

function isUnderFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOTDIR";
}

function controlPath(dataDir: string): string {
  return join(dataDir, "control.json");
}
