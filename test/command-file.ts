/** The file that node is to run as `fenceline`. */
import { fileURLToPath } from "node:url";

/** Names the bundle that the tests of this run share. */
export const BUNDLE = "FENCELINE_TEST_BUNDLE";

/** As users start it, from its sources. */
export const LAUNCHER = fileURLToPath(new URL("../bin/fenceline.mjs", import.meta.url));

/** The bundle, or the launcher where no bundle was made. */
export const COMMAND = process.env[BUNDLE] ?? LAUNCHER;
