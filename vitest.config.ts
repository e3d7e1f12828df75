import { defineConfig } from "vitest/config";

/** Tests of code that holds nothing of its host: files share a process, which loads the code once. */
const pure = ["test/{protocol,scenarios,formats,contracts,sim,tidy}/**/*.test.ts", "test/tidy.test.ts"];

export default defineConfig({
  test: {
    // Processes, not threads: tests load a native store and stop processes with signals.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 5_000,
    restoreMocks: true,
    unstubGlobals: true,
    unstubEnvs: true,
    tags: [{ name: "exhaustive", description: "goes through many cases: npm run test:exhaustive" }],
    projects: [
      { extends: true, test: { name: "pure", include: pure, isolate: false } },
      { extends: true, test: { name: "host", include: ["test/**/*.test.ts"], exclude: pure } },
    ],
  },
});
