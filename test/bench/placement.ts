/**
 * How long placing an ensemble takes: node --import tsx test/bench/placement.ts [--json]
 *
 * 15 of 60 bookies in three regions, at the median; and how the time grows with 10, 100 and 1,000 bookies.
 * What is placed is checked, outside of what is timed. `--json` ends with the gates in one line. Exits 1 if
 * one fails.
 */
import { parseArgs } from "node:util";
import { ledgerId } from "../../lib/protocol/ids.ts";
import { checkEnsemble } from "../../lib/protocol/placement/check-ensemble.ts";
import { regionAware } from "../../lib/protocol/placement/region-aware.ts";
import type { BookieAddress, Replication } from "../../lib/protocol/replication.ts";
import { regionsOf, replication, request } from "../protocol/placement/topologies.ts";

const rounds = 4_000;
const warmUpRounds = 2_000;
const medianMsMax = 0.2;

interface Gate {
  readonly gate: string;
  readonly value: number;
  readonly limit: number;
  readonly holds: boolean;
}

/** Median time of one placement in ms, over ledgers with ids in sequence. */
function medianMs(candidates: readonly BookieAddress[], sizes: Replication): number {
  const times = new Float64Array(rounds);
  for (let round = -warmUpRounds; round < rounds; round++) {
    const asked = request(candidates, sizes, { ledgerId: ledgerId(round + warmUpRounds) });
    const startedAt = performance.now();
    const answer = regionAware.chooseEnsemble(asked);
    const ms = performance.now() - startedAt;
    if (answer.kind === "refused") throw new Error(answer.reason);
    const check = checkEnsemble(answer.ensemble, sizes);
    if (check.kind === "illegal") throw new Error(check.reason);
    if (round >= 0) times[round] = ms;
  }
  return times.sort()[rounds / 2] ?? Number.NaN;
}

function gate(name: string, value: number, limit: number): Gate {
  const rounded = Math.round(value * 10_000) / 10_000;
  return { gate: name, value: rounded, limit, holds: value <= limit };
}

const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const print = (line: string) => process.stdout.write(`${line}\n`);

const seedExample = medianMs(regionsOf([20, 20, 20], 4), replication("15/15/9 m2"));
print(`placing 15 of 60 bookies: median ${(seedExample * 1_000).toFixed(1)} µs (goal below 200)`);

/** Four of so many bookies, in three regions of as equal size as can be. */
const growth = [10, 100, 1_000].map((bookies) => {
  const capacities = [0, 1, 2].map((index) => Math.floor((bookies + index) / 3));
  return { bookies, ms: medianMs(regionsOf(capacities, 3), replication("4/4/3 m2")) };
});
for (const { bookies, ms } of growth) {
  print(`placing 4 of ${bookies} bookies: median ${(ms * 1_000).toFixed(1)} µs`);
}

const gates = [
  gate("median ms of placing 15 of 60 bookies", seedExample, medianMsMax),
  ...growth.slice(1).map(({ bookies, ms }, index) => {
    const smaller = growth[index];
    const factor = ms / (smaller?.ms ?? Number.NaN);
    return gate(
      `growth from ${smaller?.bookies} to ${bookies} bookies, times`,
      factor,
      bookies / (smaller?.bookies ?? 1),
    );
  }),
];
for (const { gate: name, value, limit, holds } of gates) {
  print(`${holds ? "holds" : "FAILS"}: ${name}: ${value}, at most ${limit}`);
}
if (values.json) print(JSON.stringify({ name: "placement", gates }));
if (!gates.every(({ holds }) => holds)) process.exitCode = 1;
