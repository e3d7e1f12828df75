/** A few thousand of the cases of random-topologies; the script many-cases runs many more. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { CPU_BOUND, EXHAUSTIVE } from "../../cpu-bound.ts";
import { runCases } from "./random-topologies.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

test(
  "2 to 8 regions, 1 to 40 bookies, 1 to 5 racks: placed and replaced wherever that is possible",
  EXHAUSTIVE,
  () => {
    const counts = runCases(1_000, 2);
    expect(counts.cases).toBe(1_000);
    expect(counts.placed).toBeGreaterThan(700);
    expect(counts.striped).toBeGreaterThan(200);
    expect(counts.degraded).toBeGreaterThan(200);
    expect(counts.withQuarantined).toBeGreaterThan(40);
    expect(counts.refused).toBeGreaterThan(80);
    expect(counts.undecided).toBeLessThan(5);
    expect(counts.replaced).toBeGreaterThan(500);
    expect(counts.replacementsRefused).toBeGreaterThan(60);
  },
);

test("the script ends with its counts in one line, and refuses what it does not know", async () => {
  const script = fileURLToPath(new URL("./many-cases.ts", import.meta.url));
  const run = (...options: string[]) =>
    promisify(execFile)(process.execPath, ["--import", "tsx", script, ...options]);
  const { stdout } = await run("--cases", "20", "--ledgers", "50", "--json");
  const printed = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  // Two processes have seen what one sees.
  expect(printed).toMatchObject({ ...runCases(20, 1), cases: 20 });
  expect(printed.shares).toHaveLength(4);
  expect(printed.shares[0]).toMatchObject({ rack: expect.any(Number) });
  await expect(run("--cases", "many")).rejects.toMatchObject({ code: 2 });
}, 60_000);
