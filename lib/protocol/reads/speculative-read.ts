/**
 * Reads from the replicas of a write set through the read policy: the nearest first, hedged, failed over.
 *
 * Two lanes send requests beyond the first ones:
 *
 *   hedging   a slow answer is raced by the next replica, when the delays say so and the budget allows;
 *   failover  an error, a missing or damaged copy sends the question on at once and for nothing; silence past
 *             the healthy pool's own measure sends it on from a budget of its own.
 *
 * RIP1 The read finishes exactly once: with the first proof, or when every replica had its say without one.
 * RIP2 From then on nothing touches it: its one timer is cancelled, open requests are aborted, late answers
 *      are dropped. Slots of the write set are what is tracked, so that a bookie may hold two of them.
 * RIP3 Each slot is asked at most once, and "none" is said only after each of them was asked and is done
 *      with.
 * RIP4 As many requests are open as could still prove something. What is proven, the read alone says.
 */

import type { Timer } from "../deadline.ts";
import { type BookieOutcome, type BookieVerdict, messageOf, verdictOf } from "../errors.ts";
import type { BookieAddress } from "../replication.ts";
import type { CallAbort, CallSignal } from "../waiting.ts";
import type { CallKind } from "./class-latency.ts";
import { OpenRequest } from "./read-attempt.ts";
import { FactsSoFar, type Lane, type ReadCounters, type ReadFacts } from "./read-counters.ts";
import { readLimits } from "./read-limits.ts";
import type { Probe, ReadPolicy } from "./read-policy.ts";

/** What the answer is worth. `said` completes "bookie b ...". */
export type Judgement<V> =
  | { readonly usable: true; readonly value: V }
  | { readonly usable: false; readonly said: string };

/** `A` is what a bookie answers, `V` what it is worth. */
interface ReplicaRead<A, V> {
  /** Latencies are pooled by the kind of call; a plain read by default. */
  readonly kind?: CallKind;
  readonly writeSet: readonly BookieAddress[];
  /** How long one request may take before it is given up, in ms; one call's usual time by default. */
  readonly timeoutMs?: number;
  /** Gets what the read cost, however it ended. */
  readonly cost?: ReadCounters | undefined;
  /** Sends one request. It should stop as soon as the signal says that it is cancelled. */
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

export type SpeculativeAnswer<V> = QuorumAnswer<V, V>;

/** Any one usable answer will do. Rejects only if `judge` throws. */
export function speculativeRead<A, V>(
  policy: ReadPolicy,
  read: ReplicaRead<A, V>,
): Promise<SpeculativeAnswer<V>> {
  return quorumRead<A, V, V>(policy, { ...read, conclude: ([first]) => first, couldConclude: () => true });
}

/** Usable answers count together until they prove something. Rejects only if the read's own code throws. */
export function quorumRead<A, P, V>(
  policy: ReadPolicy,
  read: QuorumRead<A, P, V>,
): Promise<QuorumAnswer<P, V>> {
  return new Promise((resolve, reject) => new ReadInProgress(policy, read, resolve, reject).start());
}

class ReadInProgress<A, P, V> {
  readonly #ahead: BookieAddress[];
  readonly #sidelined: readonly BookieAddress[];
  readonly #first: BookieAddress | undefined;
  readonly #timeoutMs: number;
  #delaysMs: readonly number[] = [];
  readonly #open = new Set<OpenRequest>();
  readonly #verdicts: BookieVerdict[] = [];
  #parts: readonly Part<P>[] = [];
  readonly #facts = new FactsSoFar();
  /** Where the hedge delays count from, and the next of them. */
  #hedgesFromMs = 0;
  #nextHedge = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly policy: ReadPolicy,
    private readonly read: QuorumRead<A, P, V>,
    private readonly resolve: (answer: QuorumAnswer<P, V>) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    const { order, sidelined } = policy.order(read.writeSet);
    this.#ahead = [...(read.arrange?.(order) ?? order)];
    this.#sidelined = sidelined;
    this.#first = this.#ahead[0];
    this.#timeoutMs = read.timeoutMs ?? readLimits.attemptTimeoutMs;
  }

  start(): void {
    const first = this.#first;
    this.policy.hedgeBudget.earn();
    this.policy.retryBudget.earn();
    if (first === undefined) {
      this.#finishWithNone();
      return;
    }
    let last = first;
    do {
      last = this.#ahead[0] ?? last;
      this.#sendNext("first");
    } while (this.#isShort());
    // A race begins when the last of those that are needed is late.
    this.#delaysMs = this.policy.hedgeDelays([last, ...this.#ahead], this.read.kind);
    const probe = this.policy.nextProbe(this.#sidelined, first);
    if (probe !== undefined) sendProbe(this.policy, this.read, probe);
    this.#wait();
  }

  /** Whether more has to be asked, because what is open could prove nothing any more (RIP4). */
  #isShort(): boolean {
    if (this.#ahead.length === 0) return false;
    const open = [...this.#open].flatMap((request) => (request.wasSentOn ? [] : [request.bookie]));
    return open.length === 0 || !this.read.couldConclude(this.#parts, open);
  }

  #sendNext(lane: Lane): void {
    const bookie = this.#ahead.shift();
    if (bookie === undefined) return;
    const nowMs = this.policy.clock.monotonicMs();
    this.#facts.sent(lane, this.#first !== undefined && this.policy.isFar(bookie, this.#first));
    if (lane !== "hedge") {
      // What failed leaves the read where it began.
      this.#hedgesFromMs = nowMs;
      this.#nextHedge = 0;
    }
    const evidence = this.policy.begin(bookie, this.read.kind);
    const request = new OpenRequest(bookie, evidence, nowMs, this.#timeoutMs);
    this.#open.add(request);
    sendTo(this.read, bookie, request.abort, lane).then(
      (answer) => this.#answered(request, answer),
      // A call that failed proves nothing (rule 21).
      (error) => this.#failed(request, { kind: "unknown", reason: messageOf(error) }),
    );
  }

  /** A judge that throws has a defect that no replica can make up for. */
  #answered(request: OpenRequest, answer: A): void {
    if (!this.#open.has(request)) return;
    try {
      this.#judge(request, answer);
    } catch (error) {
      this.#stop();
      this.reject(error);
    }
  }

  #judge(request: OpenRequest, answer: A): void {
    const { bookie, evidence } = request;
    const judgement = this.read.judge(answer, bookie);
    if (!judgement.usable) {
      this.#failed(request, { kind: "answered", said: judgement.said });
      return;
    }
    const parts = [...this.#parts, { bookie, value: judgement.value }];
    const proof = this.read.conclude(parts);
    this.#open.delete(request);
    evidence.answered();
    this.#parts = parts;
    if (proof === undefined) {
      this.#proceed();
      return;
    }
    this.#facts.winner = this.policy.distance(bookie);
    this.#finish({ kind: "answer", value: proof.value, bookie, facts: this.#facts });
  }

  #finishWithNone(): void {
    const facts = this.#facts;
    this.#finish({ kind: "none", verdicts: this.#verdicts, parts: this.#parts, facts });
  }

  #failed(request: OpenRequest, outcome: BookieOutcome): void {
    if (!this.#open.delete(request)) return;
    request.evidence.failed();
    this.#goOn(request, outcome);
  }

  #timedOut(request: OpenRequest): void {
    if (!this.#open.delete(request)) return;
    request.giveUp();
    this.#goOn(request, { kind: "unknown", reason: `no answer in ${this.#timeoutMs} ms` });
  }

  /** Errors cost nothing: the read needs another replica. One whose silence was sent on has had its turn. */
  #goOn(request: OpenRequest, outcome: BookieOutcome): void {
    this.#verdicts.push(verdictOf(request.bookie, outcome));
    if (!request.wasSentOn || this.#open.size === 0) this.#sendNext("failover");
    this.#proceed();
  }

  #proceed(): void {
    while (this.#isShort()) this.#sendNext("failover");
    if (this.#open.size > 0) this.#wait();
    else this.#finishWithNone();
  }

  #finish(answer: QuorumAnswer<P, V>): void {
    this.#stop();
    this.policy.counters.add(answer.facts);
    this.read.cost?.add(answer.facts);
    this.resolve(answer);
  }

  #stop(): void {
    this.#timer?.cancel();
    for (const request of this.#open) request.abandon();
    this.#open.clear();
  }

  /** Sets the one timer to whatever is due next. */
  #wait(): void {
    this.#timer?.cancel();
    if (this.#open.size === 0) return;
    const dueMs = this.#dueMs();
    const delayMs = Math.max(0, dueMs - this.policy.clock.monotonicMs());
    this.#timer = this.policy.clock.startTimer(delayMs, () => this.#woken(dueMs));
  }

  #dueMs(): number {
    let dueMs = this.#hedgeDueMs;
    for (const request of this.#open) {
      dueMs = Math.min(dueMs, request.timeoutMs);
      if (this.#ahead.length > 0) dueMs = Math.min(dueMs, request.silentMs);
    }
    return dueMs;
  }

  get #hedgeDueMs(): number {
    const delayMs = this.#ahead.length > 0 ? this.#delaysMs[this.#nextHedge] : undefined;
    return delayMs === undefined ? Number.POSITIVE_INFINITY : this.#hedgesFromMs + delayMs;
  }

  #woken(dueMs: number): void {
    if (this.#open.size === 0) return;
    // What was waited for is due, also where adding up fractions of a ms made the clock fall short of it:
    // to wait once more for nothing would be to wait for ever.
    const nowMs = Math.max(this.policy.clock.monotonicMs(), dueMs);
    if (nowMs - dueMs > readLimits.frozenAfterMs) {
      this.#hedgesFromMs = nowMs;
      for (const request of this.#open) request.thaw(nowMs);
    }
    if (nowMs >= this.#hedgeDueMs) this.#hedge();
    for (const request of [...this.#open]) {
      if (nowMs >= request.timeoutMs) this.#timedOut(request);
      else if (nowMs >= request.silentMs) this.#sendOn(request, nowMs);
    }
    this.#wait();
  }

  /**
   * A hedge that cannot be paid for is dropped; the replica waits for the next delay. To race a healthy
   * replica by a suspect would be a waste.
   */
  #hedge(): void {
    const [bookie] = this.#ahead;
    this.#nextHedge += 1;
    if (bookie === undefined || this.#first === undefined) return;
    if (this.policy.isSuspect(bookie.id) && !this.policy.isSuspect(this.#first.id)) return;
    if (this.policy.hedgeBudget.trySpend(this.policy.cost(bookie, this.#first))) this.#sendNext("hedge");
    else this.policy.counters.hedgesDenied += 1;
  }

  /** From a suspect to a healthy replica for nothing: the request takes the other's place. */
  #sendOn(request: OpenRequest, nowMs: number): void {
    const [next] = this.#ahead;
    if (next === undefined) return;
    const isRescue = this.policy.isSuspect(request.bookie.id) && !this.policy.isSuspect(next.id);
    if (isRescue || this.policy.retryBudget.trySpend(1)) {
      request.wasSentOn = true;
      this.#sendNext("failover");
    } else {
      request.waitOn(nowMs);
      this.policy.counters.failoversDenied += 1;
    }
  }
}

/** A call that throws at once rejects like one that fails later; one that is over keeps no listener. */
async function sendTo<A>(
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
function sendProbe<A>(policy: ReadPolicy, read: ReplicaRead<A, unknown>, probe: Probe): void {
  sendTo(read, probe.bookie, probe.abort, "first")
    .then((answer) => {
      if (read.judge(answer, probe.bookie).usable) probe.attempt.answered();
      else probe.attempt.failed();
    })
    .catch(() => probe.attempt.failed())
    .finally(() => policy.probeEnded(probe));
}
