/**
 * The seed, from 1 to 500, that showed each mutant last time, so that the next run need not search again. It
 * only decides which seed is tried first. `--mutants --remember` writes this file.
 */
export const knownCatches: Readonly<Record<string, number>> = {};
