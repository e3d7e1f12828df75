/**
 * Reads the topology file, and checks it whole before there is any construct: a mistake is reported in the
 * file's own words, and not by a stack that failed half way.
 */
import { readFileSync } from "node:fs";
import type { z } from "zod";
import { type Topology, topologySchema } from "./topology.ts";
import { topologyFaults } from "./topology-faults.ts";

/** The topology is not one that can be deployed; the message lists everything that is wrong with it. */
export class TopologyError extends Error {
  override readonly name = "TopologyError";
}

/** Throws TopologyError. */
export function readTopology(path: string): Topology {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new TopologyError(
      `the topology file ${path} cannot be read (${error instanceof Error ? error.message : error}); name ` +
        "another with --context topology=<path>",
    );
  }
  return parseTopology(text, path);
}

/** Throws TopologyError. */
export function parseTopology(text: string, path: string): Topology {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw refused(path, [`is no JSON: ${error instanceof Error ? error.message : error}`]);
  }
  const { success, data, error } = topologySchema.safeParse(json);
  if (!success) throw refused(path, error.issues.flatMap(wordsOf));
  const faults = topologyFaults(data);
  if (faults.length > 0) throw refused(path, faults);
  return data;
}

function refused(path: string, faults: readonly string[]): TopologyError {
  return new TopologyError([`${path} is no topology to deploy:`, ...faults].join("\n  - "));
}

function wordsOf(issue: z.core.$ZodIssue): readonly string[] {
  const at = issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  const where = at.replace(/^\./, "") || "the file";
  if (issue.code === "invalid_union" && issue.path[0] === "presets") {
    return [`${where}: neither a preset's name nor { ensembleSize, writeQuorum, ackQuorum, minRegions }`];
  }
  return [`${where}: ${issue.message}`];
}
