/**
 * Speculative reads in virtual time: `node --import tsx test/bench/reads.ts [--json]`. Prints tables and
 * gates; with `--json` the last line is the gates for programs. Exits with 1 if a gate fails. Same numbers
 * every time.
 */

import { faultSection } from "./reads/faults.ts";
import { type Gate, gateLines } from "./reads/gates.ts";
import { drawMatrix, fixedLayout } from "./reads/latency-matrix.ts";
import { presetTables } from "./reads/presets.ts";
import { queueingSection } from "./reads/queueing.ts";
import { steadySection } from "./reads/steady.ts";

const seed = 20_261_129;

async function main(isForPrograms: boolean): Promise<void> {
  const print = (text: string) => process.stdout.write(text);
  const gates: Gate[] = [];
  const matrix = drawMatrix({ layout: fixedLayout, reads: 240_000, readsPerSecond: 100, seed });
  for (const section of [
    () => steadySection(matrix),
    () => faultSection(40_000, seed),
    () => queueingSection(seed),
  ]) {
    const done = await section();
    print(done.text);
    gates.push(...done.gates);
  }
  print(await presetTables(20_000, seed));
  print(`\n${gateLines(gates)}`);
  if (isForPrograms) print(`${JSON.stringify({ name: "reads", gates })}\n`);
  if (gates.some((gate) => !gate.holds)) process.exitCode = 1;
}

await main(process.argv.includes("--json"));
