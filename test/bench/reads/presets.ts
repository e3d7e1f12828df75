/**
 * The replication presets on the default regions, read from each of them: tables to look at, without gates.
 */
import { hedged, noHedging, plainP95 } from "./baselines.ts";
import { drawMatrix, type Layout } from "./latency-matrix.ts";
import { regions } from "./latency-model.ts";
import { runOurs } from "./our-policy.ts";
import { latencyHead, latencyRow, table } from "./table.ts";

const presets: Readonly<Record<string, readonly number[]>> = {
  // Bookies in us-east-1, us-east-2 and us-west-2.
  "economy, Qw 2": [1, 1, 0],
  "standard, Qw 4": [2, 1, 1],
  "resilient, Qw 6": [2, 2, 2],
};

export async function presetTables(reads: number, seed: number): Promise<string> {
  const tables: string[] = [];
  for (const [name, counts] of Object.entries(presets)) {
    for (const reader of regions) {
      const replicas = regions.flatMap((region, index) =>
        Array.from({ length: counts[index] ?? 0 }, (_, rack) => ({ region, rack: `rack-${rack}` })),
      );
      tables.push(await presetTable(name, { reader, replicas }, reads, seed));
    }
  }
  return tables.join("");
}

async function presetTable(name: string, layout: Layout, reads: number, seed: number): Promise<string> {
  const matrix = drawMatrix({ layout, reads, readsPerSecond: 100, seed });
  return table(`Preset ${name}, read from ${layout.reader}`, latencyHead, [
    latencyRow("no hedging", noHedging(matrix)),
    latencyRow("fixed hedge after 2 s", hedged(matrix, { delayMs: 2_000, probability: 1 })),
    latencyRow("plain p95 hedge", plainP95(matrix)),
    latencyRow("ours", await runOurs(matrix)),
  ]);
}
