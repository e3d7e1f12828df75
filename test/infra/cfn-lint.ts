/**
 * Synthesises the repository's own topology as anybody would, without account and network, and lets cfn-lint
 * read the templates. It is installed by pip under the ignored folder; where that cannot be, this says so.
 *
 *     node --import tsx test/infra/cfn-lint.ts
 */
import { spawnSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";

const VERSION = "1.58.0";
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HOME = join(ROOT, ".fenceline", `cfn-lint-${VERSION}`);
const CDK = createRequire(import.meta.url).resolve("aws-cdk/bin/cdk");
const TIMEOUT_MS = 300_000;

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): boolean {
  const stdio = ["ignore", "inherit", "inherit"] as const;
  return spawnSync(command, args, { cwd: ROOT, stdio: [...stdio], env, timeout: TIMEOUT_MS }).status === 0;
}

/** The command, or nothing if Python or pip is not there. A half-made installation is never found. */
function installed(): string | undefined {
  const command = join(HOME, "bin", "cfn-lint");
  if (existsSync(command)) return command;
  const python = join(HOME, "bin", "python3");
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
  rmSync(HOME, { recursive: true, force: true });
  const isMade =
    run("python3", ["-m", "venv", HOME]) &&
    run(python, ["-m", "pip", "install", ...quiet, `cfn-lint==${VERSION}`]);
  if (isMade) return command;
  if (existsSync(HOME)) renameSync(HOME, `${HOME}-failed-${process.pid}`);
  return undefined;
}

/** As on a machine that knows no account. What the CDK keeps at home is not left in the checkout. */
function withoutAccount(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("AWS_"));
  return { ...Object.fromEntries(kept), AWS_EC2_METADATA_DISABLED: "true", HOME: home };
}

async function main(): Promise<boolean> {
  await using scratch = await ScratchDirectory.make();
  const assembly = join(scratch.path, "cdk.out");
  const synth = ["synth", "--quiet", "--no-notices", "--output", assembly];
  if (!run(process.execPath, [CDK, ...synth], withoutAccount(scratch.path))) return false;
  const command = installed();
  if (command === undefined) {
    process.stderr.write(
      "\n!!! NOT TESTED: no template was read by cfn-lint, which pip could not install\n\n",
    );
    return true;
  }
  return run(command, ["--config-file", join(ROOT, ".cfnlintrc.yaml"), join(assembly, "*.template.json")]);
}

process.exitCode = (await main()) ? 0 : 1;
