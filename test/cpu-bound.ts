/**
 * How long a test may take that only computes, seconds of it: on a busy machine its share of a core is small,
 * and a deadline would be a test of the machine.
 */
export const CPU_BOUND = { timeout: 120_000 } as const;

/**
 * For a test that goes through many cases, as a freeze at every call or thousands of random topologies: it is
 * left to `npm run test:exhaustive`.
 */
export const EXHAUSTIVE = { ...CPU_BOUND, tags: "exhaustive" } as const;
