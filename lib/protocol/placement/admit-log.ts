/** Admission against the topology as a process knows it now: the bookies that could take new copies. */
import { ledgerId } from "../ids.ts";
import type { Topology } from "../ports.ts";
import type { Replication } from "../replication.ts";
import { type Accepted, type AdmissionRefusal, admit } from "./admission.ts";
import { UNKNOWN_REGION } from "./known-region.ts";
import { countByRegion, usableBookies } from "./usable-bookies.ts";

/** What a new log's creator is told of its quorum sizes. */
export type LogAdmission = Pick<Accepted, "kind" | "warnings"> | AdmissionRefusal;

export type AskAdmission = (replication: Replication, topology: Topology) => LogAdmission;

/**
 * Bookies that are read-only or lost, and those of regions that are draining or lost, do not count: a log
 * that could not be placed without them would be accepted to no use. A refusal says whom it left out.
 */
export const admitLog: AskAdmission = (replication, topology) => {
  const candidates = topology.bookies();
  const states = topology.states?.();
  const request = {
    ledgerId: ledgerId(0),
    replication,
    candidates,
    excluded: new Set<never>(),
    home: UNKNOWN_REGION,
    ...(states === undefined ? {} : { bookieStates: states.bookies, regionStates: states.regions }),
  };
  const usable = usableBookies(request, new Set()).sound;
  const answer = admit(replication, countByRegion(usable));
  const leftOut = candidates.filter((candidate) => !usable.includes(candidate));
  if (answer.kind === "accepted" || leftOut.length === 0 || !answer.change.includes("topology"))
    return answer;
  const names = leftOut.map(({ id }) => id).join(", ");
  return {
    ...answer,
    reason: `${answer.reason}; not counted, because of their or their region's state: ${names}`,
  };
};
