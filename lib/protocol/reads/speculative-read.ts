/**
 * Reads from any replica of a write set. Two lanes send requests beyond the first one:
 *
 *   hedging   a slow answer is raced by the next replica, when the delays say so and the budget allows;
 *   failover  an error, a missing or damaged copy sends the question on at once and for nothing; silence past
 *             the healthy pool's own measure sends it on from a budget of its own.
 *
 * E1 The read finishes exactly once: with the first usable answer, or when every replica has failed.
 * E2 From then on nothing touches it: its one timer is cancelled, open requests are aborted, late answers are
 *    dropped. Slots of the write set are what is tracked, so that a bookie may hold two of them.
 * E3 Each slot is asked at most once, and "none" is said only after each of them was asked and failed.
 */
import { type BookieVerdict, type BookieWord, verdictOf } from "../errors.ts";
import type { BookieAddress } from "../place.ts";
import type { Timer } from "../ports.ts";
import { OpenRequest } from "./open-request.ts";
import { FactsSoFar, type Lane, type ReadFacts } from "./read-counters.ts";
import { readLimits } from "./read-limits.ts";
import type { ReadPolicy } from "./read-policy.ts";
import { type Judgement, type ReplicaRead, sendProbe, sendTo } from "./replica-read.ts";

export type SpeculativeAnswer<V> =
  | { readonly kind: "answer"; readonly value: V; readonly bookie: BookieAddress; readonly facts: ReadFacts }
  | { readonly kind: "none"; readonly verdicts: readonly BookieVerdict[]; readonly facts: ReadFacts };

/** Rejects only if `judge` throws. */
export function speculativeRead<A, V>(
  policy: ReadPolicy,
  read: ReplicaRead<A, V>,
): Promise<SpeculativeAnswer<V>> {
  return new Promise((resolve, reject) => {
    new ReadInProgress(policy, read, { resolve, reject }).start();
  });
}

interface Outcome<V> {
  readonly resolve: (answer: SpeculativeAnswer<V>) => void;
  readonly reject: (error: unknown) => void;
}

class ReadInProgress<A, V> {
  readonly #ahead: BookieAddress[];
  readonly #sidelined: readonly BookieAddress[];
  readonly #first: BookieAddress | undefined;
  readonly #delaysMs: readonly number[];
  readonly #open = new Set<OpenRequest>();
  readonly #verdicts: BookieVerdict[] = [];
  readonly #facts = new FactsSoFar();
  /** Where the hedge delays count from, and the next of them. */
  #hedgesFromMs = 0;
  #nextHedge = 0;
  #timer: Timer | undefined;

  constructor(
    private readonly policy: ReadPolicy,
    private readonly read: ReplicaRead<A, V>,
    private readonly outcome: Outcome<V>,
  ) {
    const { order, sidelined } = policy.order(read.writeSet);
    this.#ahead = [...order];
    this.#sidelined = sidelined;
    this.#first = order[0];
    this.#delaysMs = policy.hedgeDelays(order);
  }

  start(): void {
    const first = this.#first;
    this.policy.hedgeBudget.earn();
    this.policy.retryBudget.earn();
    if (first === undefined) {
      this.#finish({ kind: "none", verdicts: [], facts: this.#facts.sum() });
      return;
    }
    this.#sendNext("first");
    const probe = this.policy.nextProbe(this.#sidelined, first);
    if (probe !== undefined) sendProbe(this.policy, this.read, probe);
    this.#wait();
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
    const request = new OpenRequest(bookie, this.policy.begin(bookie), nowMs);
    this.#open.add(request);
    sendTo(this.read, bookie, request.abort).then(
      (answer) => this.#answered(request, answer),
      (error) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#failed(request, { kind: "unknown", reason });
      },
    );
  }

  #answered(request: OpenRequest, answer: A): void {
    if (!this.#open.has(request)) return;
    const judgement = this.#judge(request, answer);
    if (judgement === undefined) return;
    if (!judgement.usable) {
      this.#failed(request, { kind: "answered", said: judgement.said });
      return;
    }
    const { bookie } = request;
    this.#open.delete(request);
    request.evidence.answered();
    const facts = this.#facts.sum(this.policy.distance(bookie));
    this.#finish({ kind: "answer", value: judgement.value, bookie, facts });
  }

  /** A judge that throws has a defect that no replica can make up for. */
  #judge(request: OpenRequest, answer: A): Judgement<V> | undefined {
    try {
      return this.read.judge(answer, request.bookie);
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
    this.#goOn(request, { kind: "unknown", reason: `no answer in ${readLimits.attemptTimeoutMs} ms` });
  }

  /** Errors cost nothing: the read needs another replica. One whose silence was sent on has had its turn. */
  #goOn(request: OpenRequest, word: BookieWord): void {
    this.#verdicts.push(verdictOf(request.bookie, word));
    if (!request.wasSentOn || this.#open.size === 0) this.#sendNext("failover");
    if (this.#open.size > 0) this.#wait();
    else this.#finish({ kind: "none", verdicts: this.#verdicts, facts: this.#facts.sum() });
  }

  #finish(answer: SpeculativeAnswer<V>): void {
    this.#stop();
    this.policy.counters.add(answer.facts);
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
