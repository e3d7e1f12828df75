/**
 * Which problems a route may answer with: the one table that the routes declare theirs from, the OpenAPI
 * document lists them from, and each failure of a handler is looked up in.
 *
 * RP1 A handler's failure with a code that its route does not declare is answered all the same, and reported
 *     to `onUndeclared`: the table is wrong then.
 */
import { type ProblemCode, problemStatus } from "./problem.ts";

/** Of every route: the origin, the path and the query are checked before there is one. */
const everywhere = ["invalid_request", "origin_not_allowed", "internal"] as const;

const groups = {
  body: ["bad_json", "body_too_large", "request_timeout", "unsupported_media_type"],
  /** Items in the metadata store are read, or changed in the way that all of them are, by work in turn. */
  metadata: ["unavailable", "insufficient_regions", "not_ready", "data_corrupt", "over_capacity"],
  log: ["log_not_found"],
  /** Ledgers are written, recovered, or changed under the asker's hands. */
  writes: ["region_unavailable", "fenced", "unknown_outcome"],
  append: [
    "seq_num_mismatch",
    "producer_fenced",
    "producer_seq_gap",
    "producer_seq_passed",
    "idempotency_conflict",
    "record_too_large",
    "batch_too_large",
    "not_owner",
  ],
} as const satisfies Record<string, readonly ProblemCode[]>;

/** Those of the groups that are named, those that are named by themselves, and those of every route. */
export function problems(...named: readonly (keyof typeof groups | ProblemCode)[]): readonly ProblemCode[] {
  const codes = named.flatMap((name): readonly ProblemCode[] =>
    name in groups ? groups[name as keyof typeof groups] : [name as ProblemCode],
  );
  return [...new Set([...everywhere, ...codes])];
}

/** The codes by the statuses that they come with, both in order. */
export function byStatus(codes: readonly ProblemCode[]): ReadonlyMap<number, readonly ProblemCode[]> {
  const found = new Map<number, ProblemCode[]>();
  for (const code of [...codes].sort()) {
    for (const status of statusesOf(code)) found.set(status, [...(found.get(status) ?? []), code]);
  }
  return new Map([...found].sort(([one], [other]) => one - other));
}

/** An outcome is unknown for want of time, or because regions are silent: as every lack of them then. */
function statusesOf(code: ProblemCode): readonly number[] {
  if (code !== "unknown_outcome") return [problemStatus[code]];
  return [problemStatus.unknown_outcome, problemStatus.insufficient_regions];
}
