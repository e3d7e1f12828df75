/**
 * Creates a log: the log item of a random incarnation first, then the name by put-if-absent, which is the
 * election; then the directory, before anybody is answered. A creator that finds the name taken repairs the
 * directory entry, in case the winner died before it.
 */
import { FencelineError, notReady } from "../../errors.ts";
import { type LogIncarnation, type LogName, newLogIncarnation, type Region } from "../../ids.ts";
import { directoryKey, type LogConfig, type LogItem, logKey, logNameKey } from "../../items.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { limits } from "../../limits.ts";
import { configNumberRows, wireNumbers } from "../../log-config.ts";
import type { LogAdmission } from "../../placement/admission.ts";
import type { Replication } from "../../replication.ts";
import { readItem, removeItem, type UpdatePorts, updateItem } from "../../update-item.ts";
import { changeLog, type LogRef, logItem } from "../log-ref.ts";
import type { LogCreation, LogDescription } from "../operations.ts";

type CreatePorts = Pick<LedgerPorts, "metadata" | "random" | "clock">;

/**
 * Asks for admission if there is no such log yet: one that exists is found whatever became of the topology.
 * Throws `invalid_request`, `log_exists` if the name has another configuration, and what the ports throw.
 */
export async function createLog(
  ports: CreatePorts,
  name: LogName,
  config: LogConfig,
  askAdmission: () => LogAdmission,
  preferred?: Region,
): Promise<LogCreation> {
  checkConfig(config);
  for (let round = 0; round < limits.updateRoundsMax; round++) {
    const named = await readItem(ports.metadata, logNameKey(name), "log-name");
    const found = named === undefined ? undefined : await logItem(ports.metadata, named.incarnation);
    if (found !== undefined) return await existing(ports, found, { config, preferred, askAdmission });
    const warnings = admitted(askAdmission());
    const item = await putLog(ports, name, config, preferred);
    if (await takeName(ports, item, named?.incarnation)) {
      await listInDirectory(ports, name, "afresh");
      return { created: true, description: describe(item), warnings };
    }
  }
  const message = `log ${JSON.stringify(name)}: its name kept changing while it was created; try again`;
  throw notReady(message, undefined, { sideEffects: "possible" });
}

/** As its item has it, which does not say whether the log has an end. */
export function describe({ kind: _, ...item }: LogItem): LogDescription {
  return item;
}

/** The warnings that come with an admission. */
function admitted(admission: LogAdmission): readonly string[] {
  if (admission.kind === "accepted") return admission.warnings;
  const { reason, change, smallestAckQuorum } = admission;
  const ageS = limits.registryAgeMaxMs / 1_000;
  const known = change.includes("topology")
    ? `. A bookie or region that was added or accepted less than ${ageS} s ago may not be known here yet`
    : "";
  throw new FencelineError("invalid_request", {
    message: `a log with these quorum sizes is refused: ${reason}${known}. Nothing was created`,
    details: {
      change,
      ...(smallestAckQuorum === undefined ? {} : { smallest_ack_quorum: smallestAckQuorum }),
    },
  });
}

async function existing(
  ports: CreatePorts,
  found: LogItem,
  asked: {
    readonly config: LogConfig;
    readonly preferred: Region | undefined;
    readonly askAdmission: () => LogAdmission;
  },
): Promise<LogCreation> {
  if (found.state !== "active") {
    throw notReady(`log ${JSON.stringify(found.name)} is being deleted; create it again later`);
  }
  refuseDifferences(found, asked.config, asked.preferred);
  await listInDirectory(ports, found.name, "if missing");
  const admission = asked.askAdmission();
  const warnings = admission.kind === "accepted" ? admission.warnings : [admission.reason];
  return { created: false, description: describe(found), warnings };
}

async function putLog(
  ports: CreatePorts,
  name: LogName,
  config: LogConfig,
  preferred: Region | undefined,
): Promise<LogItem> {
  const item: LogItem = {
    kind: "log",
    name,
    incarnation: newLogIncarnation(ports.random),
    config,
    state: "active",
    trimPoint: 0 as LogItem["trimPoint"],
    createdAtMs: ports.clock.nowMs(),
    ...(preferred === undefined ? {} : { preferredRegion: preferred }),
  };
  const { wrote } = await updateItem(ports, logKey(item.incarnation), (current) =>
    current === undefined ? item : undefined,
  );
  if (wrote) return item;
  throw notReady("a random log incarnation was in use: the random port repeats itself");
}

/**
 * Puts the name if it is free, or names `dead`, an incarnation without a log item: what a creation leaves
 * that lost, removed its log item, and whose write of the name came through after the winner was deleted. A
 * loser removes its log item. Should the outcome stay unknown, the item stays: the name may yet come to
 * name it.
 */
async function takeName(
  ports: CreatePorts,
  item: LogItem,
  dead: LogIncarnation | undefined,
): Promise<boolean> {
  const { name, incarnation } = item;
  const { stored, wrote } = await updateItem(ports, logNameKey(name), (current) => {
    const isFree =
      current === undefined || (current.item.kind === "log-name" && current.item.incarnation === dead);
    return isFree ? { kind: "log-name", name, incarnation } : undefined;
  });
  if (wrote || (stored?.item.kind === "log-name" && stored.item.incarnation === incarnation)) return true;
  try {
    await removeItem(
      ports,
      logKey(incarnation),
      ({ item: orphan }) => orphan.kind === "log" && orphan.incarnation === incarnation,
    );
  } catch {
    // An orphan: no name names it, nobody reads it.
  }
  return false;
}

/**
 * Afresh: written also if it is there, so that a deleter of the name's former life, who looked at it before,
 * cannot remove it any more.
 */
async function listInDirectory(
  ports: CreatePorts,
  name: LogName,
  how: "afresh" | "if missing",
): Promise<void> {
  await updateItem(ports, directoryKey(name), (current) =>
    current === undefined || how === "afresh" ? { kind: "directory", name } : undefined,
  );
}

function checkConfig(config: LogConfig): void {
  const { replication } = config;
  if (!isOrdered(replication)) {
    throw new FencelineError("invalid_request", {
      message:
        `quorum sizes are integers with ensemble >= write quorum >= ack quorum >= min regions >= 1, got ` +
        `${JSON.stringify(replication)}; correct them or use a preset`,
    });
  }
  for (const [name, row] of configNumberRows) {
    const { [name]: value = row.default } = config;
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    const usual = row.default === undefined ? "it may be left out" : `${row.default} is the default`;
    throw new FencelineError("invalid_request", {
      message: `${row.wire} is a whole number from 1, got ${value}; ${usual}`,
    });
  }
}

function isOrdered({ ensembleSize, writeQuorum, ackQuorum, minRegions }: Replication): boolean {
  const sizes = [ensembleSize, writeQuorum, ackQuorum, minRegions, 1];
  return sizes.every((size, index) => Number.isSafeInteger(size) && size >= (sizes[index + 1] ?? 1));
}

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

/**
 * Says in which region a log should be owned: the log as it is then. Nothing moves by it: the auditor brings
 * the log there, or it is transferred. Throws `log_not_found`, and what the ports throw.
 */
export async function preferRegion(
  ports: UpdatePorts,
  log: LogRef,
  preferred: Region | undefined,
): Promise<LogItem> {
  const { item } = await changeLog(ports, log, ({ preferredRegion, ...rest }) => {
    if (preferredRegion === preferred) return undefined;
    return preferred === undefined ? rest : { ...rest, preferredRegion: preferred };
  });
  return item;
}
