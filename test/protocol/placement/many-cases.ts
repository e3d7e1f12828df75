/**
 * Many random topologies, and shares over many ledgers:
 *
 *     node --import tsx test/protocol/placement/many-cases.ts [--cases N] [--ledgers N] [--seed N] [--json]
 *
 * Prints what was seen; exits 1 at the first case that went wrong, naming it.
 */
import { parseArgs } from "node:util";
import { runCases } from "./random-topologies.ts";
import { deviations, longCases, quickCases } from "./shares.ts";

/** How far the share of a region or a rack may be from even over 30,000 ledgers. */
const deviationMax = 0.02;

const print = (line: string) => process.stdout.write(`${line}\n`);

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  process.stderr.write(`--${name} is ${text}; it must be a whole number from 1\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "100000" },
    ledgers: { type: "string", default: "30000" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});

const cases = wholeNumber("cases", values.cases);
const ledgers = wholeNumber("ledgers", values.ledgers);
const seed = wholeNumber("seed", values.seed);

const startedAt = performance.now();
const counts = runCases(cases, seed);
const shares = [...quickCases, ...longCases].map((one) => ({ name: one.name, ...deviations(one, ledgers) }));
const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
const isEven = shares.every(({ region, rack }) => Math.max(region, rack) <= deviationMax);

if (values.json) {
  print(JSON.stringify({ name: "placement-cases", ...counts, shares, isEven, seconds }));
} else {
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
if (!isEven && ledgers >= 30_000) process.exitCode = 1;
