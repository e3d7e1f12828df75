/**
 * What a million appends cost with each preset, request by request.
 *
 *     npm run cost
 *     npm run cost -- --bytes 100000 --no-gateway
 */
import { parseArgs } from "node:util";
import { presets } from "../lib/api/log-config.ts";
import { type AppendCase, appendCost, totalOf } from "../lib/infra/cost/append-cost.ts";
import { prices } from "../lib/infra/cost/prices.ts";

/** Copies of a preset's write quorum that lie outside of the writer's region, of three regions. */
const remote = { standard: 2, economy: 1, resilient: 4 } as const;
const APPEND_MS = 100;
const BOOKIE_MS = 80;

function main(): void {
  const { values } = parseArgs({
    options: {
      bytes: { type: "string", default: "1024" },
      "append-ms": { type: "string", default: String(APPEND_MS) },
      "bookie-ms": { type: "string", default: String(BOOKIE_MS) },
      "no-gateway": { type: "boolean", default: false },
    },
  });
  const batchBytes = whole("bytes", values.bytes);
  const [appendMs, bookieMs] = [
    whole("append-ms", values["append-ms"]),
    whole("bookie-ms", values["bookie-ms"]),
  ];
  print(
    `US dollars for a million appends of one batch of ${batchBytes} bytes; ${prices.region}, ${prices.date}.`,
  );
  for (const [name, { writeQuorum }] of Object.entries(presets)) {
    const remoteCopies = remote[name as keyof typeof remote];
    const withGateway = !values["no-gateway"];
    const one: AppendCase = { writeQuorum, remoteCopies, batchBytes, withGateway, appendMs, bookieMs };
    const lines = appendCost(one);
    print(`\n${name}, ${writeQuorum} copies: ${totalOf(lines).toFixed(2)}`);
    for (const { what, dollars } of lines) print(`  ${dollars.toFixed(2).padStart(7)}  ${what}`);
  }
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new RangeError(`--${name} is ${text}; it must be a whole number`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

main();
