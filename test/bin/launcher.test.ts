/** The launcher with a command of its own beside it: arguments, exit codes and signals are the command's. */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Ready to be stopped before it says anything. */
const command = `
interface Said { readonly args: readonly string[] }
const said: Said = { args: process.argv.slice(2) };
if (said.args[0] === "fail") process.exitCode = 5;
if (said.args[0] === "throw") throw new Error("on line five");
if (said.args[0] === "wait") {
  process.on("SIGTERM", () => process.exit(9));
  setInterval(() => {}, 1000);
}
console.log(JSON.stringify(said.args));
`;

let root: string;
let launcher: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "fenceline-launcher-"));
  launcher = join(root, "bin/fenceline.mjs");
  mkdirSync(join(root, "bin"));
  for (const path of [
    "bin/setup.mjs",
    "bin/fenceline.mjs",
    "package.json",
    "tsconfig.json",
    "tsconfig.base.json",
  ]) {
    copyFileSync(join(repository, path), join(root, path));
  }
  // No lock file: the set-up takes the modules as they are, and leaves the linked ones alone.
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"), "junction");
  writeFileSync(join(root, "bin/fenceline.ts"), command);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function run(...args: string[]) {
  return spawnSync(process.execPath, [launcher, ...args], {
    encoding: "utf8",
    cwd: tmpdir(),
    timeout: 15_000,
  });
}

test("arguments arrive untouched, from any folder", () => {
  expect(run("read", "a b", "--from", "0")).toMatchObject({
    status: 0,
    stdout: '["read","a b","--from","0"]\n',
    stderr: "",
  });
});

test("the exit code is the command's", () => {
  expect(run("fail").status).toBe(5);
});

test("a stack names the line of the TypeScript source", () => {
  const result = run("throw");
  expect(result.status).toBe(1);
  expect(result.stderr).toContain("fenceline.ts:5:");
});

test("a signal reaches the command itself", async () => {
  const child = spawn(process.execPath, [launcher, "wait"], { stdio: ["ignore", "pipe", "inherit"] });
  const code = new Promise((resolve) => child.once("exit", resolve));
  child.stdout.once("data", () => child.kill("SIGTERM"));
  expect(await code).toBe(9);
});
