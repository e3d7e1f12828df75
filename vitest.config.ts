import { defineConfig } from "vitest/config";

/** Tests of code that holds nothing of its host. */
const pure = ["test/{protocol,scenarios,formats,contracts,sim,tidy}/**/*.test.ts", "test/tidy.test.ts"];

/** Tests that look at a whole process: its memory, its timers, what a module reads as it is loaded. */
const alone = [
  "test/adapters/aws/emulated-faults.test.ts",
  "test/api/hostile-bodies.test.ts",
  "test/local/aborted-reads.test.ts",
];

/**
 * Files share processes, which load the code once; only those above have a process each. One worker more than
 * the cores of a small machine, since many tests of the host wait, for a process or for a limit to pass.
 */
export default defineConfig({
  test: {
    // Processes, not threads: tests load a native store and stop processes with signals.
    pool: "forks",
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 5_000,
    restoreMocks: true,
    unstubGlobals: true,
    unstubEnvs: true,
    tags: [{ name: "exhaustive", description: "goes through many cases: npm run test:exhaustive" }],
    projects: [
      { extends: true, test: { name: "pure", include: pure, isolate: false } },
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: {
          name: "host",
          include: ["test/**/*.test.ts"],
          exclude: [...pure, ...alone],
          isolate: false,
          globalSetup: "./test/bundle-command.ts",
        },
      },
    ],
  },
});
