/** In what a log that exists differs from the one that a creation asks for, in the words of the wire. */
import { FencelineError } from "../../errors.ts";
import type { Region } from "../../ids.ts";
import type { LogConfig, LogItem } from "../../items.ts";
import { wireNumbers } from "../../log-config.ts";

interface ConfigDifference {
  /** As a creation names it, such as `replication.ack_quorum`. */
  readonly field: string;
  readonly existing: string | number | null;
  /** What was sent, or the default of what was not. */
  readonly given: string | number | null;
}

/** Throws `log_exists` with the differences if there are any. A preference that is not stated is none. */
export function refuseDifferences(
  found: Pick<LogItem, "name" | "config" | "preferredRegion">,
  config: LogConfig,
  preferred: Region | undefined,
): void {
  const [existing, wanted] = [fieldsOf(found.config), fieldsOf(config)];
  const fields = new Set([...Object.keys(wanted), ...Object.keys(existing)]);
  const differences = [...fields].flatMap((field): ConfigDifference[] => {
    const [is, given] = [existing[field] ?? null, wanted[field] ?? null];
    return is === given ? [] : [{ field, existing: is, given }];
  });
  if (preferred !== undefined && preferred !== found.preferredRegion) {
    const existing = found.preferredRegion ?? null;
    differences.push({ field: "preferred_region", existing, given: preferred });
  }
  if (differences.length === 0) return;
  const words = differences.map(({ field, existing, given }) => `${field} is ${existing}, not ${given}`);
  const preferenceAlone = differences.every(({ field }) => field === "preferred_region");
  const remedy = preferenceAlone
    ? "change that by itself, or leave it out here"
    : "give what it has (what is left out is the deployment's default), or choose another name";
  const name = JSON.stringify(found.name);
  throw new FencelineError("log_exists", {
    message: `log ${name} exists with another configuration: ${words.join("; ")}; ${remedy}`,
    details: { differences },
  });
}

function fieldsOf(config: LogConfig): Readonly<Record<string, string | number>> {
  const { replication, digest } = config;
  return {
    "replication.ensemble_size": replication.ensembleSize,
    "replication.write_quorum": replication.writeQuorum,
    "replication.ack_quorum": replication.ackQuorum,
    "replication.min_regions": replication.minRegions,
    digest,
    ...wireNumbers(config),
  };
}
