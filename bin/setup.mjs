/**
 * Makes sure that this checkout can run: a Node that is new enough, and node_modules as package-lock.json
 * says. Plain Node, because nothing else may be installed yet. Costs a few milliseconds when all is well.
 *
 * Two may run at once: the one that takes the lock file installs, the other waits and looks again. What
 * counts as installed is read from node_modules itself, so an installation cut short is done again. Where
 * node_modules is a link, what it leads to belongs to somebody else: it is used as it is, or refused, and
 * never written to.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lockfile = join(root, "package-lock.json");
const modules = join(root, "node_modules");
const stampFile = join(modules, ".fenceline-setup");
const guard = join(root, ".fenceline", "setup.lock");

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"];
const waitMs = 100;
const waitMsMax = 10 * 60_000;

/** What went wrong and what to do about it; printed without a stack. */
class SetupError extends Error {}

/**
 * Installs what is missing: everything, or with `runtime` what the command and the embedded cloud need, which
 * is a fifth of it, the rest being CDK and tools. Throws a SetupError that says what to do.
 */
export async function ensureReady(scope = "all") {
  checkNodeVersion();
  if (isCurrent(scope)) return;
  mkdirSync(join(root, ".fenceline"), { recursive: true });
  await takeGuard();
  try {
    if (isCurrent(scope)) return;
    refuseLinkedModules();
    say("installing what package-lock.json names, with npm ci");
    await runNpmCi(scope);
    leaveStamp(scope);
  } finally {
    rmSync(guard, { force: true });
  }
}

/** `ensureReady`, then an error on stderr and exit code 1 if it failed. */
export async function ensureReadyOrExit(scope = "all") {
  try {
    await ensureReady(scope);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exit(1);
  }
}

function checkNodeVersion() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [major, minor] = numbersOf(process.versions.node);
  const [majorMin, minorMin] = numbersOf(engines.node);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  const given = process.versions.node;
  throw new SetupError(`Node ${given} is too old: ${engines.node} is needed. Install it and try again.`);
}

function numbersOf(version) {
  return (version.match(/\d+/g) ?? []).map(Number);
}

/** A package installed from a registry has no lock file, and its dependencies are not ours to lay out. */
function isCurrent(scope) {
  const lockText = readIfThere(lockfile);
  if (lockText === undefined) return true;
  const stamp = readIfThere(stampFile);
  if (stamp === wantedStamp("all") || stamp === wantedStamp(scope)) return true;
  if (!agreesWith(lockText, scope)) return false;
  leaveStamp(scope);
  return true;
}

/** The stamp only saves the long way round next time: where it cannot be written, nothing is lost. */
function leaveStamp(scope) {
  if (isLink(modules)) return;
  try {
    writeFileSync(stampFile, wantedStamp(scope));
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS", "ENOENT"].includes(error.code)) throw error;
  }
}

function wantedStamp(scope) {
  const hash = createHash("sha256").update(readFileSync(lockfile));
  const suffix = scope === "all" ? "" : ` ${scope}`;
  return `${hash.digest("hex")} ${process.platform} ${process.arch}${suffix}\n`;
}

/** `npm ci` begins by emptying node_modules: through a link that is another checkout's folder. */
function refuseLinkedModules() {
  if (!isLink(modules)) return;
  throw new SetupError(
    `${modules} is a symbolic link to ${readlinkSync(modules)}, which does not hold what ` +
      "package-lock.json names. npm ci would empty that folder, so nothing was done. Run npm ci in the " +
      "checkout that the folder belongs to, if its package-lock.json is the same as here; or remove the " +
      "link, and the link alone, and run this again: it installs a folder of this checkout's own.",
  );
}

/** Also of a link that leads nowhere. */
function isLink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Whether someone's own npm run laid out what the lock file names, by npm's record in node_modules. */
function agreesWith(lockText, scope) {
  const record = readIfThere(join(modules, ".package-lock.json"));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  const wanted = JSON.parse(lockText).packages;
  const isThere = ([path, entry]) => {
    const found = installed[path];
    if (path === "" || (scope === "runtime" && entry.dev === true)) return true;
    if (found === undefined) return entry.optional === true && !belongsHere(entry);
    return found.version === entry.version && found.integrity === entry.integrity;
  };
  return Object.entries(wanted).every(isThere) && Object.keys(installed).every((path) => path in wanted);
}

/**
 * Whether an optional package is made for this machine. One that names no processor, or names a C library,
 * only npm can place.
 */
function belongsHere({ os, cpu, libc }) {
  if (cpu === undefined || libc !== undefined) return false;
  return cpu.includes(process.arch) && (os === undefined || os.includes(process.platform));
}

/**
 * Creates the guard file with our process id, or waits for its holder. A dead holder's file is removed. Two
 * waiters may both remove it, the second one taking away the first one's new file; hence the second look.
 */
async function takeGuard() {
  const own = `${process.pid}\n`;
  for (let waitedMs = 0; waitedMs < waitMsMax; waitedMs += waitMs) {
    try {
      writeFileSync(guard, own, { flag: "wx" });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    await sleep(waitMs);
    const holder = readIfThere(guard);
    if (holder === own) return;
    if (holder !== undefined && !isAlive(Number(holder))) rmSync(guard, { force: true });
    else if (waitedMs === 0) say("waiting for another set-up to finish");
  }
  throw new SetupError(`another set-up still holds ${guard}. If none is running, delete that file.`);
}

function isAlive(pid) {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * npm's output goes to stderr: our own callers may print data. A signal is passed on and npm waited for, so
 * that the guard is not given up while npm still writes.
 */
async function runNpmCi(scope) {
  const dev = scope === "runtime" ? "--omit=dev" : "--include=dev";
  const npm = spawn("npm", ["ci", dev, "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  const passOn = (signal) => npm.kill(signal);
  for (const signal of stopSignals) process.on(signal, passOn);
  const outcome = await new Promise((resolve) => {
    npm.on("error", (error) => resolve(`could not start (${error.message})`));
    npm.on("exit", (code, signal) =>
      resolve(code === 0 ? "ok" : `ended with ${signal ?? `exit code ${code}`}`),
    );
  });
  for (const signal of stopSignals) process.off(signal, passOn);
  if (outcome === "ok") return;
  throw new SetupError(`npm ci ${outcome}. Its own lines above say why; mend that and run this again.`);
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function say(message) {
  process.stderr.write(`fenceline set-up: ${message}\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  await ensureReadyOrExit(process.argv.includes("--runtime") ? "runtime" : "all");
}
