/** The simulator's command: what it refuses, in the words of what was given. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { CPU_BOUND } from "../cpu-bound.ts";

const run = promisify(execFile);

test.each(["seed", "from"])("--%s that is no number is named as it was given", CPU_BOUND, async (option) => {
  const told = run(process.execPath, ["--import", "tsx", "test/sim/main.ts", `--${option}`, "x"]);
  await expect(told).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`--${option} takes a whole number from 0 to 2^53 - 1, got x`),
  });
});
