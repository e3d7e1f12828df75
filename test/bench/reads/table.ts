/** Tables for people. */
import type { PolicyResult } from "./baselines.ts";
import { percentilesOf } from "./percentiles.ts";

export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const render = (line: readonly string[]) =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ");
  return `\n${title}\n${lines.map(render).join("\n")}\n`;
}

export const latencyHead = ["", "p50 ms", "p99 ms", "p99.9 ms", "extra"] as const;

export function latencyRow(name: string, result: PolicyResult): string[] {
  const { p50, p99, p999 } = percentilesOf(result.latencyMs);
  return [name, p50.toFixed(1), p99.toFixed(1), p999.toFixed(1), share(result.extra)];
}

export const share = (value: number): string => `${(100 * value).toFixed(2)} %`;
