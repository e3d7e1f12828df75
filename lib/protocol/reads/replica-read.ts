/** What a read asks of a replica, and how one request of it is sent. */

import type { CallAbort, CallSignal } from "../call-abort.ts";
import type { BookieAddress } from "../place.ts";
import type { Probe, ReadPolicy } from "./read-policy.ts";

/** What the answer is worth. `said` completes "bookie b ...". */
export type Judgement<V> =
  | { readonly usable: true; readonly value: V }
  | { readonly usable: false; readonly said: string };

/** `A` is what a bookie answers, `V` what the read is after. */
export interface ReplicaRead<A, V> {
  readonly writeSet: readonly BookieAddress[];
  /** Sends one request. It should stop as soon as the signal says that nobody waits any more. */
  readonly call: (bookie: BookieAddress, signal: CallSignal) => Promise<A>;
  /**
   * Whether the answer is what was asked for; if not, the next replica is asked. Probes are judged as well:
   * it must not change anything, save that it may trace.
   */
  readonly judge: (answer: A, bookie: BookieAddress) => Judgement<V>;
}

/** A call that throws at once rejects like one that fails later; one that is over keeps no listener. */
export async function sendTo<A>(
  read: ReplicaRead<A, unknown>,
  bookie: BookieAddress,
  abort: CallAbort,
): Promise<A> {
  try {
    return await read.call(bookie, abort);
  } finally {
    abort.forget();
  }
}

/** Whatever comes of a probe is evidence alone: no read waits for it. */
export function sendProbe<A>(policy: ReadPolicy, read: ReplicaRead<A, unknown>, probe: Probe): void {
  sendTo(read, probe.bookie, probe.abort)
    .then((answer) => {
      if (read.judge(answer, probe.bookie).usable) probe.attempt.answered();
      else probe.attempt.failed();
    })
    .catch(() => probe.attempt.failed())
    .finally(() => policy.probeEnded(probe));
}
