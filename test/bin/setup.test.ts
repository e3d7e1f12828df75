/** The set-up script in checkouts of its own, with an npm that only notes that it was called. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(new URL("../../bin/setup.mjs", import.meta.url));

/** Notes the call, prints to stdout, waits while `slow` exists, then lays out what the lock file names. */
const fakeNpm = `#!${process.execPath}
const fs = require("node:fs");
fs.appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
console.log("added 1 package");
if (fs.existsSync("broken")) process.exit(7);
fs.rmSync("node_modules", { recursive: true, force: true });
const finish = () => {
  if (fs.existsSync("slow")) return setTimeout(finish, 10);
  fs.mkdirSync("node_modules");
  const { packages } = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
  const omitsDev = process.argv.includes("--omit=dev");
  const laidOut = Object.entries(packages).filter(([, one]) => !(omitsDev && one.dev));
  fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(laidOut) }));
};
finish();
`;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "fenceline-setup-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "bin"));
  mkdirSync(join(root, "fake"));
  copyFileSync(script, join(root, "bin/setup.mjs"));
  write("fake/npm", fakeNpm, 0o755);
  write("fake/package.json", '{"type":"commonjs"}');
  write("package.json", JSON.stringify({ type: "module", engines: { node: ">=20.20" } }));
  writeLock({ "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } });
});

function write(path: string, text: string, mode = 0o644): void {
  writeFileSync(join(root, path), text, { mode });
}

function writeLock(packages: object, path = "package-lock.json"): void {
  write(path, JSON.stringify({ packages: { "": { name: "x" }, ...packages } }));
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${join(root, "fake")}${delimiter}${process.env.PATH}` };
}

function setUp(path = root, flags: readonly string[] = []) {
  const options = { env: environment(), encoding: "utf8", timeout: 15_000 } as const;
  return spawnSync(process.execPath, [join(path, "bin/setup.mjs"), ...flags], options);
}

function start(): ChildProcess {
  const child = spawn(process.execPath, [join(root, "bin/setup.mjs")], {
    env: environment(),
    stdio: "ignore",
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", resolve));
}

function npmCalls(): number {
  if (!existsSync(join(root, "npm-calls"))) return 0;
  return readFileSync(join(root, "npm-calls"), "utf8").trim().split("\n").length;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("installing", () => {
  test("a fresh checkout is installed once, by npm ci, with nothing on stdout", () => {
    const first = setUp();
    expect(first).toMatchObject({ status: 0, stdout: "" });
    expect(first.stderr).toContain("added 1 package");
    expect(readFileSync(join(root, "npm-calls"), "utf8")).toMatch(/^ci /);
    expect(setUp()).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(npmCalls()).toBe(1);
  });

  test("--runtime installs without the tools, and the whole is installed when somebody needs it", () => {
    writeLock({
      "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
      "node_modules/tool": { version: "1.0.0", integrity: "sha512-t", dev: true },
    });
    const runtime = () => setUp(root, ["--runtime"]);
    expect(runtime()).toMatchObject({ status: 0 });
    expect(runtime()).toMatchObject({ status: 0, stderr: "" });
    expect(npmCalls()).toBe(1);
    expect(setUp()).toMatchObject({ status: 0 });
    expect(npmCalls()).toBe(2);
    expect(runtime()).toMatchObject({ status: 0, stderr: "" });
    expect(npmCalls()).toBe(2);
    const calls = readFileSync(join(root, "npm-calls"), "utf8").split("\n");
    expect(calls[0]).toContain("--omit=dev");
    expect(calls[1]).toContain("--include=dev");
  });

  test("--runtime takes somebody's own npm run for what it laid out, without the tools", () => {
    const packages = { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } };
    writeLock({ ...packages, "node_modules/tool": { version: "1.0.0", integrity: "sha512-t", dev: true } });
    mkdirSync(join(root, "node_modules"));
    writeLock(packages, "node_modules/.package-lock.json");
    expect(setUp(root, ["--runtime"])).toMatchObject({ status: 0, stderr: "" });
    expect(npmCalls()).toBe(0);
    setUp();
    expect(npmCalls()).toBe(1);
  });

  test("another lock file is installed anew", () => {
    setUp();
    writeLock({ "node_modules/a": { version: "1.0.1", integrity: "sha512-b" } });
    setUp();
    setUp();
    expect(npmCalls()).toBe(2);
  });

  test("removed modules are installed anew", () => {
    setUp();
    rmSync(join(root, "node_modules"), { recursive: true });
    setUp();
    expect(npmCalls()).toBe(2);
  });

  test("a failed npm is reported with what to do, and tried again next time", () => {
    write("broken", "");
    const failed = setUp();
    expect(failed).toMatchObject({ status: 1, stdout: "" });
    expect(failed.stderr).toContain("npm ci ended with exit code 7");
    expect(failed.stderr).not.toContain("at runNpmCi");
    rmSync(join(root, "broken"));
    expect(setUp().status).toBe(0);
    expect(npmCalls()).toBe(2);
  });

  test("without npm the error says so", () => {
    const result = spawnSync(process.execPath, [join(root, "bin/setup.mjs")], {
      env: { PATH: join(root, "bin") },
      encoding: "utf8",
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("npm ci could not start");
  });

  test("called through a symbolic link it still does its work", () => {
    const link = `${root}-link`;
    symlinkSync(root, link);
    onTestFinished(() => rmSync(link));
    expect(setUp(link).status).toBe(0);
    expect(npmCalls()).toBe(1);
  });
});

describe("what a person installed", () => {
  const a = { version: "1.0.0", integrity: "sha512-a" };
  const elsewhere = { version: "1.0.0", optional: true, cpu: ["none"], os: [process.platform] };
  const here = { ...elsewhere, cpu: [process.arch] };

  test.each([
    ["the same packages", { "node_modules/a": a }, { "node_modules/a": a }, 0],
    [
      "without those for other machines",
      { "node_modules/a": a, "node_modules/e": elsewhere },
      { "node_modules/a": a },
      0,
    ],
    [
      "without the one for this machine",
      { "node_modules/a": a, "node_modules/h": here },
      { "node_modules/a": a },
      1,
    ],
    ["another version", { "node_modules/a": a }, { "node_modules/a": { ...a, version: "1.0.1" } }, 1],
    ["another content", { "node_modules/a": a }, { "node_modules/a": { ...a, integrity: "sha512-x" } }, 1],
    ["one too few", { "node_modules/a": a, "node_modules/b": a }, { "node_modules/a": a }, 1],
    ["one too many", { "node_modules/a": a }, { "node_modules/a": a, "node_modules/b": a }, 1],
  ])("%s", (_, wanted, installed, calls) => {
    mkdirSync(join(root, "node_modules"));
    writeLock(wanted);
    writeLock(installed, "node_modules/.package-lock.json");
    expect(setUp().status).toBe(0);
    expect(npmCalls()).toBe(calls);
  });

  test("a package without a lock file is left alone", () => {
    rmSync(join(root, "package-lock.json"));
    expect(setUp()).toMatchObject({ status: 0, stderr: "" });
    expect(npmCalls()).toBe(0);
  });
});

describe("node_modules that is a symbolic link", () => {
  const a = { version: "1.0.0", integrity: "sha512-a" };

  function linkTo(target: string): string {
    mkdirSync(join(root, "elsewhere"));
    write("elsewhere/kept", "");
    symlinkSync(join(root, target), join(root, "node_modules"), "junction");
    return join(root, target);
  }

  test.each([
    ["of another version", "elsewhere", { "node_modules/a": { ...a, version: "0.9.0" } }],
    ["without npm's record", "elsewhere", undefined],
    ["that leads nowhere", "nowhere", undefined],
  ])("%s is refused with what to do, and what it leads to is left alone", (_, target, installed) => {
    const path = linkTo(target);
    if (installed !== undefined) writeLock(installed, "elsewhere/.package-lock.json");
    const result = setUp();
    expect(result).toMatchObject({ status: 1, stdout: "" });
    expect(result.stderr).toContain(`node_modules is a symbolic link to ${path}`);
    expect(result.stderr).toMatch(/nothing was done.*Run npm ci in .*or remove the link/);
    expect(npmCalls()).toBe(0);
    expect(existsSync(join(root, "elsewhere/kept"))).toBe(true);
    expect(existsSync(join(root, ".fenceline/setup.lock"))).toBe(false);
  });

  test("is used, and not written to, where it holds what the lock file names", () => {
    linkTo("elsewhere");
    writeLock({ "node_modules/a": a }, "elsewhere/.package-lock.json");
    expect(setUp()).toMatchObject({ status: 0, stderr: "" });
    expect(npmCalls()).toBe(0);
    expect(readdirSync(join(root, "elsewhere")).sort()).toEqual([".package-lock.json", "kept"]);
  });
});

describe("two at once", () => {
  test("one installs, the others wait for it and install nothing", async () => {
    write("slow", "");
    const first = ended(start());
    await until(() => npmCalls() === 1);
    const others = [ended(start()), ended(start())];
    rmSync(join(root, "slow"));
    expect(await Promise.all([first, ...others])).toEqual([0, 0, 0]);
    expect(npmCalls()).toBe(1);
    expect(existsSync(join(root, ".fenceline/setup.lock"))).toBe(false);
  });

  test("a lock whose holder is dead is taken over", () => {
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    mkdirSync(join(root, ".fenceline"));
    write(".fenceline/setup.lock", `${dead}\n`);
    expect(setUp().status).toBe(0);
    expect(npmCalls()).toBe(1);
  });

  test("a signal stops npm as well, and the next run starts over", async () => {
    write("slow", "");
    const child = start();
    await until(() => npmCalls() === 1);
    const code = ended(child);
    child.kill("SIGTERM");
    expect(await code).toBe(1);
    expect(existsSync(join(root, ".fenceline/setup.lock"))).toBe(false);
    rmSync(join(root, "slow"));
    expect(setUp().status).toBe(0);
  });
});

test("a Node that is too old is told which one is needed", () => {
  write("package.json", JSON.stringify({ type: "module", engines: { node: ">=999.3" } }));
  const result = setUp();
  expect(result).toMatchObject({ status: 1, stdout: "" });
  expect(result.stderr).toContain(`Node ${process.versions.node} is too old: >=999.3 is needed`);
  expect(npmCalls()).toBe(0);
});
