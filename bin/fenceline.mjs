#!/usr/bin/env node
/**
 * Starts the command from its TypeScript sources, in this very process: arguments, exit code and signals are
 * the command's own.
 */
import { fileURLToPath } from "node:url";
import { ensureReadyOrExit } from "./setup.mjs";

await ensureReadyOrExit("runtime");
const { register } = await import("tsx/esm/api");
register({ tsconfig: fileURLToPath(new URL("../tsconfig.json", import.meta.url)) });
process.setSourceMapsEnabled(true);
await import("./fenceline.ts");
