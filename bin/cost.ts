/**
 * What a million appends cost with each preset, and what asking for health does, request by request.
 *
 *     npm run cost
 *     npm run cost -- --bytes 100000 --no-gateway
 *     npm run cost -- --bytes 1000000 --storage-class STANDARD_IA
 */
import { parseArgs } from "node:util";
import { presets } from "../lib/api/log-config.ts";
import { type StorageClass, storageClasses } from "../lib/environment.ts";
import {
  type AppendCase,
  appendCost,
  type CostLine,
  storageCost,
  totalOf,
} from "../lib/infra/cost/append-cost.ts";
import { healthCost, monthOfHealth } from "../lib/infra/cost/health-cost.ts";
import { prices } from "../lib/infra/cost/prices.ts";
import { storageClassRefusal } from "../lib/infra/topology/storage-class.ts";

/** Copies of a preset's write quorum that lie outside of the writer's region, of three regions. */
const remote = { standard: 2, economy: 1, resilient: 4 } as const;
const APPEND_MS = 100;
const BOOKIE_MS = 80;
/** The repository's own topology: two bookies in each of three regions, which hold the metadata too. */
const HEALTH = { bookies: 6, replicas: 3 };
/** How often a load balancer or a monitor asks by default. */
const HEALTH_EVERY_S = 30;

const USAGE = `
npm run cost -- [--bytes N] [--append-ms N] [--bookie-ms N] [--no-gateway] [--storage-class CLASS]
  --bytes          of one batch (1024)
  --append-ms, --bookie-ms   how long one call takes (${APPEND_MS}, ${BOOKIE_MS})
  --no-gateway     functions are invoked directly
  --storage-class  ${storageClasses.join(", ")} (STANDARD)
`;

function main(): void {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", default: false },
      bytes: { type: "string", default: "1024" },
      "append-ms": { type: "string", default: String(APPEND_MS) },
      "bookie-ms": { type: "string", default: String(BOOKIE_MS) },
      "no-gateway": { type: "boolean", default: false },
      "storage-class": { type: "string", default: "STANDARD" },
    },
  });
  if (values.help) {
    print(USAGE.trim());
    return;
  }
  const batchBytes = whole("bytes", values.bytes);
  const [appendMs, bookieMs] = [
    whole("append-ms", values["append-ms"]),
    whole("bookie-ms", values["bookie-ms"]),
  ];
  const storageClass = classOf(values["storage-class"]);
  print(
    `US dollars for a million appends of one batch of ${batchBytes} bytes; ${prices.region}, ${prices.date}.`,
  );
  for (const [name, { writeQuorum }] of Object.entries(presets)) {
    const remoteCopies = remote[name as keyof typeof remote];
    const withGateway = !values["no-gateway"];
    const sizes = { writeQuorum, remoteCopies, batchBytes, storageClass };
    const one: AppendCase = { ...sizes, withGateway, appendMs, bookieMs };
    const lines = appendCost(one);
    print(`\n${name}, ${writeQuorum} copies: ${totalOf(lines).toFixed(2)}`);
    for (const line of lines) print(wordsOf(line));
    print("  kept for the first month, besides:");
    print(wordsOf(storageCost(one)));
  }
  const asked = healthCost({ ...HEALTH, withGateway: !values["no-gateway"], askMs: appendMs, bookieMs });
  const { bookies, replicas } = HEALTH;
  print(
    `\na million GET /v1/health, ${bookies} bookies and ${replicas} replicas: ${totalOf(asked).toFixed(2)}`,
  );
  for (const line of asked) print(wordsOf(line));
  const month = monthOfHealth(totalOf(asked), HEALTH_EVERY_S).toFixed(2);
  print(`  one that asks a region every ${HEALTH_EVERY_S} s: ${month} a month`);
}

function wordsOf({ what, dollars }: CostLine): string {
  return `  ${dollars.toFixed(2).padStart(7)}  ${what}`;
}

function classOf(text: string): StorageClass {
  const found = storageClasses.find((one) => one === text);
  if (found === undefined) throw new RangeError(`--storage-class ${storageClassRefusal(text)}`);
  return found;
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new RangeError(`--${name} is ${text}; it must be a whole number`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof RangeError) && !(error instanceof TypeError && "code" in error)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
