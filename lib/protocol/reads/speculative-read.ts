/**
 * Reads from the replicas of a write set through the read policy: the nearest first, hedged, failed over.
 */
import { ReadInProgress } from "./read-in-progress.ts";
import type { ReadPolicy } from "./read-policy.ts";
import type { Part, QuorumAnswer, QuorumRead, ReplicaRead } from "./replica-read.ts";

export type SpeculativeAnswer<V> = QuorumAnswer<V, V>;

/** Any one usable answer will do. Rejects only if `judge` throws. */
export function speculativeRead<A, V>(
  policy: ReadPolicy,
  read: ReplicaRead<A, V>,
): Promise<SpeculativeAnswer<V>> {
  return quorumRead<A, V, V>(policy, { ...read, conclude: firstPart, couldConclude: always });
}

/** Usable answers count together until they prove something. Rejects only if the read's own code throws. */
export function quorumRead<A, P, V>(
  policy: ReadPolicy,
  read: QuorumRead<A, P, V>,
): Promise<QuorumAnswer<P, V>> {
  return new Promise((resolve, reject) => {
    new ReadInProgress(policy, read, { resolve, reject }).start();
  });
}

function firstPart<V>([first]: readonly Part<V>[]): { readonly value: V } | undefined {
  return first;
}

function always(): boolean {
  return true;
}
