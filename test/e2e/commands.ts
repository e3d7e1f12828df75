/** What the end-to-end runs share: commands with their output, times printed, checks that end the run. */
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { exitOf } from "../local/cloud-process.ts";

export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`failed: ${what}`);
}

export const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

export async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const beganMs = performance.now();
  const result = await run();
  process.stdout.write(`${what}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s\n`);
  return result;
}

/** What a command writes to standard output. */
export async function outputOf(child: ChildProcess): Promise<{ code: number | null; out: Buffer }> {
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise((resolve) => child.stdout?.once("close", resolve));
  const code = await exitOf(child);
  await closed;
  return { code, out: Buffer.concat(chunks) };
}
