/**
 * Many random topologies, and shares over many ledgers:
 *
 *     node --import tsx test/protocol/placement/many-cases.ts [--cases N] [--ledgers N] [--seed N]
 *         [--processes N] [--json]
 *
 * Prints what was seen; exits 1 if a case went wrong, naming it, or if a share is too far from even. The
 * cases are divided among processes, which the numbers do not depend on.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { type CaseCounts, runCases } from "./random-topologies.ts";
import { deviations, longCases, quickCases } from "./shares.ts";

/** How far the share of a region or a rack may be from even over 30,000 ledgers. */
const deviationMax = 0.02;
const ledgersForEven = 30_000;

const print = (line: string) => process.stdout.write(`${line}\n`);

function wholeNumber(name: string, text: string, least = 1): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
  process.stderr.write(`--${name} is ${text}; it must be a whole number from ${least}\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "100000" },
    ledgers: { type: "string", default: String(ledgersForEven) },
    seed: { type: "string", default: "1" },
    processes: { type: "string", default: "2" },
    /** Set by the script itself: the cases from this number on, and nothing else. */
    first: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const cases = wholeNumber("cases", values.cases);
const ledgers = wholeNumber("ledgers", values.ledgers);
const seed = wholeNumber("seed", values.seed);
const processes = wholeNumber("processes", values.processes);

/** Runs part of the cases in a process of its own, which says so itself when one of them went wrong. */
async function partOfCases(many: number, first: number): Promise<CaseCounts> {
  const script = fileURLToPath(import.meta.url);
  const options = ["--cases", many, "--first", first, "--seed", seed].map(String);
  const running = promisify(execFile)(process.execPath, [...process.execArgv, script, ...options]);
  running.child.stderr?.pipe(process.stderr);
  return JSON.parse((await running).stdout);
}

function sum(parts: readonly CaseCounts[]): CaseCounts {
  const total = runCases(0, seed);
  for (const part of parts) {
    for (const name of Object.keys(total) as (keyof CaseCounts)[]) total[name] += part[name];
  }
  return total;
}

async function runAll(): Promise<void> {
  const startedAt = performance.now();
  const starts = Array.from({ length: processes + 1 }, (_, part) => Math.floor((part * cases) / processes));
  const running = Promise.all(
    starts.slice(1).map((end, part) => {
      const first = starts[part] ?? 0;
      return end > first ? partOfCases(end - first, first) : runCases(0, seed);
    }),
  );
  running.catch(() => undefined); // thrown where it is awaited
  const shares = [...quickCases, ...longCases].map((one) => ({
    name: one.name,
    ...deviations(one, ledgers),
  }));
  const counts = sum(await running);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const isEven = shares.every(({ region, rack }) => Math.max(region, rack) <= deviationMax);
  if (values.json) print(JSON.stringify({ name: "placement-cases", ...counts, shares, isEven, seconds }));
  else printText(counts, shares, seconds);
  if (counts.cases !== cases) throw new Error(`${counts.cases} of ${cases} cases were run`);
  if (!isEven && ledgers >= ledgersForEven) {
    process.stderr.write(`a region's or a rack's share is more than ${100 * deviationMax} % off even\n`);
    process.exitCode = 1;
  }
}

type NamedShares = ReturnType<typeof deviations> & { readonly name: string };

function printText(counts: CaseCounts, shares: readonly NamedShares[], seconds: number): void {
  print(`placement: ${counts.cases} random topologies, ${ledgers} ledgers on each of ${shares.length} more`);
  for (const [name, many] of Object.entries(counts)) print(`  ${name}: ${many}`);
  for (const { name, region, rack, bookie } of shares) {
    const [ofRegions, ofRacks, ofBookies] = [region, rack, bookie].map(
      (part) => `${(100 * part).toFixed(2)} %`,
    );
    print(
      `  ${name}: off even by at most ${ofRegions} (regions), ${ofRacks} (racks), ${ofBookies} (bookies)`,
    );
  }
  print(`${seconds} s`);
}

try {
  if (values.first === undefined) await runAll();
  else print(JSON.stringify(runCases(cases, seed, wholeNumber("first", values.first, 0))));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
