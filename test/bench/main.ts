/**
 * `npm run bench -- NAME [--json]`: runs one bench. Each verifies what it measures, and fails if a gate does not
 * hold.
 */
const benches: Readonly<Record<string, () => Promise<unknown>>> = {
  placement: () => import("./placement.ts"),
};

const [name] = process.argv.slice(2);
const bench = name === undefined ? undefined : benches[name];
if (bench === undefined) {
  const names = Object.keys(benches).join(", ");
  process.stderr.write(`no bench ${name ?? "was named"}; there are: ${names}\n`);
  process.exitCode = 2;
} else {
  process.argv.splice(2, 1);
  await bench();
}
