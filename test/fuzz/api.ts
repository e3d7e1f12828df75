/**
 * Schemathesis against an embedded cloud: requests made from the OpenAPI document, those that fit it and those
 * that do not, one by one and in chains that follow its links. Everything is refused or accepted as the
 * document says, and the cloud meets no defect. Skipped, with a word, where there is no Python or no PyPI.
 *
 *     npm run fuzz:api -- --requests 10000 --seed 7
 */
import { execFile, spawn } from "node:child_process";
import { access, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { EmbeddedCloud } from "../../lib/local/embedded-cloud.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";

const VERSION = "4.32.5";
const REQUESTS_DEFAULT = 1_500;
/** Operations that chains must reach. */
const OPERATIONS_MIN = 15;
/** Runs of chains alone, which end when they will, until they have reached that many. */
const CHAINS_MAX = 20;
/** Examples of one operation in one run; a run has its boundary values besides. */
const EXAMPLES = 30;
const root = fileURLToPath(new URL("../..", import.meta.url));
const venv = join(root, ".fenceline", `schemathesis-${VERSION}`);
const command = join(venv, "bin", "schemathesis");

interface Report {
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  readonly exit_code: number;
}

interface Step {
  readonly operation: string | null;
  readonly phase: string | null;
  readonly status: number;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Undefined once it is there; else why it cannot be. */
async function install(): Promise<string | undefined> {
  if (await isThere(command)) return undefined;
  const run = promisify(execFile);
  await mkdir(join(root, ".fenceline"), { recursive: true });
  try {
    await run("python3", ["-m", "venv", venv]);
    const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
    await run(join(venv, "bin", "pip"), ["install", ...quiet, `schemathesis==${VERSION}`]);
    return undefined;
  } catch (error) {
    await rm(venv, { recursive: true, force: true });
    return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

async function schemathesis(url: string, scratch: string, seed: number, phases: string): Promise<Report> {
  const report = join(scratch, "report.json");
  const args = [
    ...["--config-file", join(root, "test/fuzz/schemathesis.toml"), "run", `${url}/v1/openapi.json`],
    ...["--checks", "all", "--max-examples", String(EXAMPLES), "--seed", String(seed), "--phases", phases],
    ...["--report", "json", "--report-json-path", report],
  ];
  const hooks = join(root, "test/fuzz/hooks.py");
  const env = { ...process.env, SCHEMATHESIS_HOOKS: hooks, FUZZ_STEPS: join(scratch, "steps") };
  // Where it leaves what it remembers.
  const child = spawn(command, args, { cwd: scratch, env, stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  for await (const chunk of child.stdout) told += chunk;
  const read = (await readFile(report, "utf8").catch(() => "")) || "{}";
  const found = JSON.parse(read) as Partial<Report>;
  if (found.exit_code !== 0) say(told);
  return { exit_code: 1, test_cases: { generated: 0, unique_failures: 1 }, ...found };
}

async function operationsInChains(scratch: string): Promise<readonly string[]> {
  const lines = (await readFile(join(scratch, "steps"), "utf8")).trim().split("\n");
  const steps = lines.map((line) => JSON.parse(line) as Step);
  const reached = steps.filter(({ phase, status }) => phase === "stateful" && status < 300);
  return [...new Set(reached.flatMap(({ operation }) => operation ?? []))].sort();
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { requests: { type: "string" }, seed: { type: "string" } } });
  const wanted = Number(values.requests ?? REQUESTS_DEFAULT);
  const why = await install();
  if (why !== undefined) {
    say(`skipped: schemathesis ${VERSION} cannot be installed: ${why}`);
    return;
  }
  await using scratch = await ScratchDirectory.make();
  const defects: string[] = [];
  await using cloud = await EmbeddedCloud.open({
    dataDir: join(scratch.path, "data"),
    port: 0,
    write: (line) => defects.push(line),
    traceLevel: "off",
  });
  const url = cloud.regions()[0]?.url ?? "";
  let [requests, failures, seed] = [0, 0, Number(values.seed ?? 1)];
  let reached: readonly string[] = [];
  for (let chainsOnly = 0; failures === 0 && chainsOnly < CHAINS_MAX; seed++) {
    const isEnough = requests >= wanted;
    if (isEnough && reached.length >= OPERATIONS_MIN) break;
    chainsOnly += isEnough ? 1 : 0;
    const phases = isEnough ? "stateful" : "examples,coverage,fuzzing,stateful";
    const report = await schemathesis(url, scratch.path, seed, phases);
    requests += report.test_cases.generated;
    failures += report.exit_code === 0 ? 0 : Math.max(1, report.test_cases.unique_failures);
    reached = await operationsInChains(scratch.path);
    say(`seed ${seed}: ${report.test_cases.generated} requests, ${failures} failures`);
  }
  say(`${requests} requests; ${reached.length} operations in chains: ${reached.join(", ")}`);
  for (const line of new Set(defects)) say(line);
  const passed = failures === 0 && defects.length === 0 && reached.length >= OPERATIONS_MIN;
  say(passed ? "as the document says" : `failed: ${failures} failures, ${defects.length} defects`);
  process.exitCode = passed ? 0 : 1;
}

await main();
