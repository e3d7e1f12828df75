/**
 * `npm run bench -- NAME [--json]`: runs one bench. Each verifies what it measures, and fails if a gate does not
 * hold.
 */
const benches: Readonly<Record<string, () => Promise<unknown>>> = {
  abuse: () => import("./abuse.ts"),
  bundles: () => import("./bundles.ts"),
  placement: () => import("./placement.ts"),
  reads: () => import("./reads.ts"),
};

export async function main(name: string | undefined): Promise<void> {
  const bench = name === undefined ? undefined : benches[name];
  if (bench === undefined) {
    process.stderr.write(`no bench ${name ?? "was named"}; there are: ${Object.keys(benches).join(", ")}\n`);
    process.exitCode = 2;
    return;
  }
  process.argv.splice(2, 1);
  await bench();
}

await main(process.argv[2]);
