/** Runs one test on a mutant, and says whether it fails as it must. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Catch, isBroken, type TestedMutant } from "./mutant.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const config = join(root, "test/sim/mutants/mutated.vitest.config.ts");

/** Vitest's report in JSON, as far as it is looked at. */
interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Undefined if the test passes. Throws if there is no such test, or if the mutant does not run. */
export async function caughtByTest({ name, caughtBy }: TestedMutant): Promise<Catch | undefined> {
  const { file, title } = caughtBy;
  const report = await reportOf(name, caughtBy);
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const result = results.find((one) => one.title === title && one.status !== "skipped");
  if (result === undefined) {
    const message = report.testResults.map((one) => one.message).join(" ");
    throw new Error(`mutant ${name}: ${file} has no test "${title}" ${message}`);
  }
  const [failure] = result.failureMessages;
  if (failure === undefined || isLate(failure)) return undefined;
  if (isBroken(failure)) throw new Error(`mutant ${name} does not run: ${failure.slice(0, 200)}`);
  return { by: `${file}, ${title}`, what: failure.split("\n")[0] ?? "" };
}

/** A machine that is busy shows nothing of the mutant. */
const isLate = (failure: string): boolean => /timed out in \d+ms/.test(failure);

async function reportOf(name: string, { file, title }: TestedMutant["caughtBy"]): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "fenceline-mutant-"));
  const output = join(folder, "report.json");
  const pattern = title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const args = ["run", "--config", config, file, "-t", pattern, "--reporter=json", `--outputFile=${output}`];
  try {
    // It ends with 1 because the test fails.
    await new Promise<void>((resolve) => {
      const env = { ...process.env, FENCELINE_MUTANT: name };
      execFile(process.execPath, [vitest, ...args], { cwd: root, env, maxBuffer: 1 << 26 }, () => resolve());
    });
    return JSON.parse(await readFile(output, "utf8")) as Report;
  } finally {
    await rm(folder, { recursive: true });
  }
}
