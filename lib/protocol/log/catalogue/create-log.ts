/**
 * Creates a log: the log item of a random incarnation first, then the name by
 * put-if-absent, which is the election; then the directory, before anybody is answered. Whoever finds the
 * name taken repairs the directory entry, should the winner have died before it.
 */
import { FencelineError, notReady } from "../../errors.ts";
import { type LogIncarnation, type LogName, newLogIncarnation, type Region } from "../../ids.ts";
import { directoryKey, type LogConfig, type LogItem, logKey, logNameKey } from "../../items.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { limits } from "../../limits.ts";
import { configNumberRows } from "../../log-config.ts";
import type { LogAdmission } from "../../placement/admission.ts";
import type { Replication } from "../../replication.ts";
import { removeItem, updateItem } from "../../update-item.ts";
import type { LogDescription } from "../operations.ts";
import { refuseDifferences } from "./config-differences.ts";

export interface LogCreation {
  readonly created: boolean;
  readonly description: LogDescription;
  /** What its quorum sizes cannot do in the present topology. */
  readonly warnings: readonly string[];
}

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
    const named = (await ports.metadata.get(logNameKey(name), "consistent"))?.item;
    if (named?.kind === "log-name") {
      const found = await readLog(ports, named.log);
      if (found !== undefined) return await existing(ports, found, { config, preferred, askAdmission });
    }
    const warnings = admitted(askAdmission());
    const dead = named?.kind === "log-name" ? named.log : undefined;
    const item = await putLog(ports, name, config, preferred);
    if (await takeName(ports, item, dead)) {
      await listInDirectory(ports, name, "afresh");
      return { created: true, description: describe(item), warnings };
    }
  }
  const message = `log ${JSON.stringify(name)}: its name kept changing while it was created; try again`;
  throw notReady(message, undefined, { sideEffects: "possible" });
}

/** As its item has it, which does not say whether the log has an end. */
export function describe(item: LogItem): LogDescription {
  const { name, log, config, state, trimPoint, createdAtMs, preferredRegion } = item;
  const preference = preferredRegion === undefined ? {} : { preferredRegion };
  return { name, log, config, state, trimPoint, createdAtMs, ...preference };
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
    log: newLogIncarnation(ports.random),
    config,
    state: "active",
    trimPoint: 0 as LogItem["trimPoint"],
    createdAtMs: ports.clock.nowMs(),
    ...(preferred === undefined ? {} : { preferredRegion: preferred }),
  };
  const { wrote } = await updateItem(ports, logKey(item.log), (current) =>
    current === undefined ? { kind: "write", item } : { kind: "keep" },
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
  const { name, log } = item;
  const { stored, wrote } = await updateItem(ports, logNameKey(name), (current) => {
    const isFree = current === undefined || (current.item.kind === "log-name" && current.item.log === dead);
    return isFree ? { kind: "write", item: { kind: "log-name", name, log } } : { kind: "keep" };
  });
  if (wrote || (stored?.item.kind === "log-name" && stored.item.log === log)) return true;
  try {
    await removeItem(
      ports,
      logKey(log),
      (current) => current.item.kind === "log" && current.item.log === log,
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
    current === undefined || how === "afresh"
      ? { kind: "write", item: { kind: "directory", name } }
      : { kind: "keep" },
  );
}

async function readLog(ports: CreatePorts, log: LogIncarnation): Promise<LogItem | undefined> {
  const item = (await ports.metadata.get(logKey(log), "consistent"))?.item;
  return item?.kind === "log" ? item : undefined;
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
