/** What a read asks of replicas, and how one request of it is sent. */
import type { CallAbort, CallSignal } from "../call-abort.ts";
import type { BookieVerdict, BookieWord } from "../errors.ts";
import type { BookieAddress } from "../place.ts";
import type { CallKind } from "./class-latency.ts";
import type { Lane, ReadCounters, ReadFacts } from "./read-counters.ts";
import type { Probe, ReadPolicy } from "./read-policy.ts";

/** What the answer is worth. `said` completes "bookie b ...". */
export type Judgement<V> =
  | { readonly usable: true; readonly value: V }
  | { readonly usable: false; readonly said: string };

/** `A` is what a bookie answers, `V` what it is worth. */
export interface ReplicaRead<A, V> {
  /** Latencies of different kinds of call are told apart; a plain read by default. */
  readonly kind?: CallKind;
  readonly writeSet: readonly BookieAddress[];
  /** How long one request may take before it is given up, in ms; one call's usual time by default. */
  readonly timeoutMs?: number;
  /** Is told what the read cost, however it ended. */
  readonly cost?: ReadCounters | undefined;
  /** Sends one request. It should stop as soon as the signal says that nobody waits any more. */
  readonly call: (bookie: BookieAddress, signal: CallSignal, lane: Lane) => Promise<A>;
  /**
   * Whether the answer is what was asked for; if not, the next replica is asked. Probes are judged as well:
   * it must not change anything, save that it may trace.
   */
  readonly judge: (answer: A, bookie: BookieAddress) => Judgement<V>;
}

/** A usable answer and whose it is. */
export interface Part<P> {
  readonly bookie: BookieAddress;
  readonly value: P;
}

/** A read for which one answer may not be enough. Its functions are pure. */
export interface QuorumRead<A, P, V> extends ReplicaRead<A, P> {
  /** Changes the policy's order: puts in front those who can prove something together. */
  readonly arrange?: (order: readonly BookieAddress[]) => readonly BookieAddress[];
  /** What the parts prove; undefined: nothing yet. */
  readonly conclude: (parts: readonly Part<P>[]) => { readonly value: V } | undefined;
  /** Whether the parts could yet prove something if `open`, never empty, answered as well as can be. */
  readonly couldConclude: (parts: readonly Part<P>[], open: readonly BookieAddress[]) => boolean;
}

export type QuorumAnswer<P, V> =
  /** `bookie` completed the proof. */
  | { readonly kind: "answer"; readonly value: V; readonly bookie: BookieAddress; readonly facts: ReadFacts }
  | {
      readonly kind: "none";
      /** What replicas said that gave no part. */
      readonly verdicts: readonly BookieVerdict[];
      readonly parts: readonly Part<P>[];
      readonly facts: ReadFacts;
    };

/** What an answer is worth by itself, and what it proves together with the parts before it. */
export interface Judged<P, V> {
  readonly judgement: Judgement<P>;
  readonly proof: { readonly value: V } | undefined;
}

export function judged<A, P, V>(
  read: QuorumRead<A, P, V>,
  parts: readonly Part<P>[],
  bookie: BookieAddress,
  answer: A,
): Judged<P, V> {
  const judgement = read.judge(answer, bookie);
  if (!judgement.usable) return { judgement, proof: undefined };
  return { judgement, proof: read.conclude([...parts, { bookie, value: judgement.value }]) };
}

/** A call that throws at once rejects like one that fails later; one that is over keeps no listener. */
export async function sendTo<A>(
  read: ReplicaRead<A, unknown>,
  bookie: BookieAddress,
  abort: CallAbort,
  lane: Lane,
): Promise<A> {
  try {
    return await read.call(bookie, abort, lane);
  } finally {
    abort.forget();
  }
}

/** Whatever comes of a probe is evidence alone: no read waits for it. */
export function sendProbe<A>(policy: ReadPolicy, read: ReplicaRead<A, unknown>, probe: Probe): void {
  sendTo(read, probe.bookie, probe.abort, "first")
    .then((answer) => {
      if (read.judge(answer, probe.bookie).usable) probe.attempt.answered();
      else probe.attempt.failed();
    })
    .catch(() => probe.attempt.failed())
    .finally(() => policy.probeEnded(probe));
}

/** A call that failed tells nothing (rule 21). */
export function silence(error: unknown): BookieWord {
  return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
}
