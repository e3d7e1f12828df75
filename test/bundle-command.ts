/**
 * Before tests that start the command again and again: bundles it once, for plain node to load in a fraction
 * of the time that its sources take. The launcher itself has tests of its own.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { BUNDLE } from "./command-file.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

export default async function bundleCommand(): Promise<() => Promise<void>> {
  // As deep below the checkout as the sources, which find package.json from where they are; node looks for
  // packages from there, too.
  const folder = await mkdtemp(join(root, "node_modules/.fenceline-"));
  const outfile = join(folder, "fenceline.mjs");
  await build({
    entryPoints: [join(root, "bin/fenceline.ts")],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20",
    format: "esm",
  });
  process.env[BUNDLE] = outfile;
  return () => rm(folder, { recursive: true });
}
