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
import type { Timer } from "../clock.ts";
import { type BookieVerdict, type BookieWord, verdictOf } from "../errors.ts";
import type { BookieAddress } from "../place.ts";
import { OpenRequest } from "./read-attempt.ts";
import { FactsSoFar, type Lane } from "./read-counters.ts";
import { readLimits } from "./read-limits.ts";
import type { ReadPolicy } from "./read-policy.ts";
import {
  type Judged,
  judged,
  type Part,
  type QuorumAnswer,
  type QuorumRead,
  type ReplicaRead,
  sendProbe,
  sendTo,
  silence,
} from "./replica-read.ts";

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

interface Outcome<P, V> {
  readonly resolve: (answer: QuorumAnswer<P, V>) => void;
  readonly reject: (error: unknown) => void;
}

class ReadInProgress<A, P, V> {
  readonly #ahead: BookieAddress[];
  readonly #sidelined: readonly BookieAddress[];
  readonly #first: BookieAddress | undefined;
  readonly #timeoutMs: number;
  #delaysMs: readonly number[] = [];
  readonly #open = new Set<OpenRequest>();
  readonly #verdicts: BookieVerdict[] = [];
  readonly #parts: Part<P>[] = [];
  readonly #facts = new FactsSoFar();
  /** Where the hedge delays count from, and the next of them. */
  #hedgesFromMs = 0;
  #nextHedge = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly policy: ReadPolicy,
    private readonly read: QuorumRead<A, P, V>,
    private readonly outcome: Outcome<P, V>,
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
    const request = new OpenRequest({ bookie, evidence, sentMs: nowMs, timeoutMs: this.#timeoutMs });
    this.#open.add(request);
    sendTo(this.read, bookie, request.abort, lane).then(
      (answer) => this.#answered(request, answer),
      (error) => this.#failed(request, silence(error)),
    );
  }

  #answered(request: OpenRequest, answer: A): void {
    if (!this.#open.has(request)) return;
    const judged = this.#judge(request.bookie, answer);
    if (judged === undefined) return;
    const { judgement, proof } = judged;
    if (!judgement.usable) {
      this.#failed(request, { kind: "answered", said: judgement.said });
      return;
    }
    this.#open.delete(request);
    request.evidence.answered();
    this.#parts.push({ bookie: request.bookie, value: judgement.value });
    if (proof !== undefined) this.#finishWith(proof.value, request.bookie);
    else this.#proceed();
  }

  #finishWith(value: V, bookie: BookieAddress): void {
    this.#finish({ kind: "answer", value, bookie, facts: this.#facts.sum(this.policy.distance(bookie)) });
  }

  #finishWithNone(): void {
    const facts = this.#facts.sum();
    this.#finish({ kind: "none", verdicts: this.#verdicts, parts: this.#parts, facts });
  }

  /** A judge that throws has a defect that no replica can make up for. */
  #judge(bookie: BookieAddress, answer: A): Judged<P, V> | undefined {
    try {
      return judged(this.read, this.#parts, bookie, answer);
    } catch (error) {
      this.#stop();
      this.outcome.reject(error);
      return undefined;
    }
  }

  #failed(request: OpenRequest, word: BookieWord): void {
    if (!this.#open.delete(request)) return;
    request.evidence.failed();
    this.#goOn(request, word);
  }

  #timedOut(request: OpenRequest): void {
    if (!this.#open.delete(request)) return;
    request.giveUp();
    this.#goOn(request, { kind: "unknown", reason: `no answer in ${this.#timeoutMs} ms` });
  }

  /** Errors cost nothing: the read needs another replica. One whose silence was sent on has had its turn. */
  #goOn(request: OpenRequest, word: BookieWord): void {
    this.#verdicts.push(verdictOf(request.bookie, word));
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
    this.outcome.resolve(answer);
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
