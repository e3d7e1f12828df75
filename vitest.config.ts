import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Processes, not threads: tests load a native store and stop processes with signals.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 5_000,
    restoreMocks: true,
    unstubGlobals: true,
    unstubEnvs: true,
  },
});
