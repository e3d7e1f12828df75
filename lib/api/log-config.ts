/** A log's configuration from a create request, the named presets and the deployment's default. */
import type { LogConfig } from "../protocol/items.ts";
import { configNumbersFrom } from "../protocol/log-config.ts";
import type { Replication } from "../protocol/replication.ts";
import type { Wire } from "./schema.ts";
import type { createBody } from "./wire.ts";

/** Quorum sizes with names. */
export const presets = {
  /** Two bookies per region or more. */
  standard: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
  /** One bookie in each of two regions or more. */
  economy: { ensembleSize: 2, writeQuorum: 2, ackQuorum: 2, minRegions: 2 },
  /** Three bookies per region or more; loses a region without an ensemble change. */
  resilient: { ensembleSize: 6, writeQuorum: 6, ackQuorum: 4, minRegions: 2 },
} as const satisfies Record<string, Replication>;

export function configOf(body: Wire<typeof createBody>, fallback: LogConfig): LogConfig {
  return {
    replication: replicationOf(body, fallback),
    digest: body.digest ?? fallback.digest,
    ...configNumbersFrom((name, { wire }) => body[wire] ?? fallback[name]),
  };
}

function replicationOf(body: Wire<typeof createBody>, fallback: LogConfig): Replication {
  if (body.preset !== undefined) return presets[body.preset];
  if (body.replication === undefined) return fallback.replication;
  return {
    ensembleSize: body.replication.ensemble_size,
    writeQuorum: body.replication.write_quorum,
    ackQuorum: body.replication.ack_quorum,
    minRegions: body.replication.min_regions,
  };
}
