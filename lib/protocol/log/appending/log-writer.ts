/**
 * One process's warm writer of one log. Appends go through it in the order of their arrival, into the open
 * segment; when that fails they are decided, and what is certainly not recorded goes on in the next one.
 *
 *     cold ──append──> opening ──segment──> writing ──failure──> deciding ──> cold
 *       ^                 │ ^                 │ │
 *       ├──none to be had─┘ └──────full───────┘ │
 *       └───────────── releasing <──lease wanted─┘
 *
 * LW1 One loop does all that takes time, one thing at a time: deciding, opening, rolling, sending.
 * LW2 An append that may be recorded is never sent again. Only a closed ledger says that it is not recorded
 *     (rule 12).
 * LW3 Nothing is sent to a segment that this process has not won and checked (rule 25).
 * LW4 A mismatch of match_seq_num, or a producer's gap, is answered only if the metadata, read after the
 *     append arrived, says that the segment's ledger is open: a writer that was superseded without knowing
 *     it does not know the tail.
 * LW5 Nothing is sent without the writer lease: it is acquired before a segment is opened or resumed, kept on
 *     use, and released only after the segment was left (rules 17 to 19).
 */
import { unreachable } from "../../assert.ts";
import type { Deadline } from "../../deadline.ts";
import { FencelineError } from "../../errors.ts";
import type { BookieId } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { backoff, pause, Signal } from "../../waiting.ts";
import { WriterLease } from "../lease/writer-lease.ts";
import { type AppendAnswer, failed, type LogPorts } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { leaseLost, notOwner } from "../opening/not-the-writer.ts";
import {
  boundedOpening,
  type Opening,
  type OpenRequest,
  openSegment,
  rollSegment,
  type TakeoverPermit,
} from "../opening/open-segment.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import type { AppendRequest } from "../operations.ts";
import { ActiveSegment, decideAppends } from "./active-segment.ts";
import { batchSender, checkAppend } from "./append-checks.ts";
import { withoutEffect } from "./append-errors.ts";
import { LogInbox } from "./log-inbox.ts";
import { AppendQueue, controlAppend, PendingAppend } from "./pending-appends.ts";
import type { RefusedAppend } from "./place-appends.ts";
import { type PostedAppends, postedAppends } from "./posted-appends.ts";
import { judgeRefusal, SealedRefusals } from "./refusals.ts";

/** `avoid`: bookies that failed the last segment. */
type WriterState =
  | { readonly kind: "cold"; readonly avoid: ReadonlySet<BookieId> }
  /** `full`: the segment that the next one follows; it is closed first. */
  | { readonly kind: "opening"; readonly avoid: ReadonlySet<BookieId>; readonly full?: ActiveSegment }
  | { readonly kind: "writing"; readonly segment: ActiveSegment }
  /** The ledger is being listed in the lease item, so that posted appends may be sent to it (rule 37a). */
  | { readonly kind: "listing"; readonly segment: ActiveSegment }
  /** The lease is being renewed, and nothing is sent meanwhile (LW5). */
  | { readonly kind: "keeping"; readonly segment: ActiveSegment }
  /** The segment failed: what was in flight in it is decided before anything else (LW2). */
  | { readonly kind: "deciding"; readonly segment: ActiveSegment }
  /** Nothing more is sent in this tenure of the lease (LW5). `failed`: what came before, decided by now. */
  | {
      readonly kind: "releasing";
      readonly segment: ActiveSegment | undefined;
      readonly failed?: ActiveSegment;
    };

export class LogWriter {
  readonly #queue: AppendQueue;
  readonly #lease: WriterLease;
  readonly #sealed: SealedRefusals;
  /** An append came, the segment changed, or the release of the lease is wanted. */
  readonly #changed = new Signal();
  /** Awaited while the release of the lease is wanted. */
  readonly #released = new Signal();
  #leaving: Promise<unknown> | undefined;
  #state: WriterState = { kind: "cold", avoid: new Set() };
  /** Appends that another process of the region is to write (rule 36). */
  readonly #posted: PostedAppends | undefined;
  /** Once this process is to serve it. */
  #inbox: LogInbox | undefined;

  constructor(
    private readonly ports: LogPorts,
    readonly log: LogRef,
  ) {
    this.#queue = new AppendQueue(log.name);
    this.#lease = new WriterLease(ports, log);
    this.#sealed = new SealedRefusals(ports, log);
    this.#posted = postedAppends(ports, log, (append) => {
      this.#queue.restart([append]);
      this.#changed.wake();
    });
    void this.#run();
  }

  /** Nothing is waiting, in flight or in doubt. */
  get isIdle(): boolean {
    const isAtRest = this.#state.kind === "cold" || (this.isWarm && this.#segment?.isIdle === true);
    const isAlone = this.#posted?.isEmpty !== false && !this.#serves;
    return isAtRest && isAlone && this.#queue.isEmpty && !this.#released.isAwaited;
  }

  /** It writes to a segment, and as far as it knows to the last one. */
  get isWarm(): boolean {
    const { kind } = this.#state;
    const isWriting = kind === "writing" || kind === "keeping" || kind === "listing";
    return isWriting && this.#segment?.failure === undefined;
  }

  /** `permit`: the owner that the log may be taken over from. Throws if the request is not valid. */
  async append(request: AppendRequest, deadline: Deadline, permit?: TakeoverPermit): Promise<AppendAnswer> {
    const bytes = checkAppend(request, this.ports.clock.nowMs());
    const batch = { ...request, bytes, sender: batchSender(this.ports, request), permit };
    return await this.#accept(new PendingAppend(this.ports.clock, this.log.name, deadline, batch));
  }

  /** Appends a control entry to its segment (rule 14). False: it has none, or another's by now. */
  async appendControl(): Promise<boolean> {
    if (!this.isWarm) return false;
    return (await this.#accept(controlAppend(this.ports.clock, this.log))).kind === "acknowledged";
  }

  /**
   * Releases the lease, also one on its way, as soon as what was sent is answered: cleanly if it was
   * acknowledged. Appends that wait acquire it anew. Resolves when it is done; never rejects.
   */
  async release(): Promise<void> {
    if (!this.#lease.isHeld) return;
    const released = this.#released.wait();
    this.#changed.wake();
    await released;
  }

  /** The log is being handed over: appends wait, then look again who owns it. */
  get isLeaving(): boolean {
    return this.#leaving !== undefined;
  }

  /** Resolves once the log is not being handed over. */
  async stays(): Promise<void> {
    while (this.#leaving !== undefined) await this.#leaving.catch(() => {});
  }

  /** Hands the log over, by `handOver`: one at a time, so the caller waits for `stays` before. */
  async leave<T>(handOver: () => Promise<T>): Promise<T> {
    const leaving = handOver().finally(() => {
      if (this.#leaving === leaving) this.#leaving = undefined;
    });
    this.#leaving = leaving;
    return await leaving;
  }

  /** What other processes of the region post to this one. */
  get inbox(): LogInbox {
    const parts = { lease: this.#lease, queue: this.#queue, changed: this.#changed };
    this.#inbox ??= new LogInbox(this.ports, this.log, parts, (append) => this.#accept(append));
    return this.#inbox;
  }

  #accept(append: PendingAppend): Promise<AppendAnswer> {
    this.#queue.push(append);
    // At once if nothing else is under way; what comes before the loop goes on shares an entry.
    if (this.#state.kind === "writing" && this.#changed.isAwaited) this.#send(this.#state.segment);
    this.#changed.wake();
    return append.outcome;
  }

  /** Not recorded: in line again, if it may be sent again here. The most restarts among them. */
  #restart(appends: readonly PendingAppend[]): number {
    return this.#inbox?.restart(appends) ?? this.#queue.restart(appends);
  }

  get #serves(): boolean {
    return this.#inbox?.isWanted === true;
  }

  get #segment(): ActiveSegment | undefined {
    return "segment" in this.#state ? this.#state.segment : undefined;
  }

  /** LW1 */
  async #run(): Promise<never> {
    while (true) {
      try {
        this.#state = await this.#next(this.#state);
      } catch (error) {
        this.#giveUp(error);
      }
    }
  }

  /** A defect: what was sent is in doubt, and nothing more is sent to this segment. */
  #giveUp(error: unknown): void {
    for (const append of [...(this.#segment?.inFlight ?? []), ...this.#queue.waiting()]) append.fail(error);
    this.#queue.dropAnswered();
    // A tenure that owes lists no other ledger (37b).
    this.#state = this.#inbox?.isListed
      ? { kind: "releasing", segment: undefined }
      : { kind: "cold", avoid: new Set() };
    this.#released.wake();
  }

  /** What to do in each state, and which state follows. */
  async #next(state: WriterState): Promise<WriterState> {
    switch (state.kind) {
      case "cold":
        if (this.#released.isAwaited) return { kind: "releasing", segment: undefined };
        return this.#queue.isEmpty && !this.#serves
          ? await this.#waiting(state)
          : { ...state, kind: "opening" };
      case "opening":
        return state.full === undefined ? await this.#open(state.avoid) : await this.#roll(state.full);
      case "writing":
        return await this.#write(state);
      case "listing":
        await this.inbox.list(state.segment);
        return { kind: "writing", segment: state.segment };
      case "keeping":
        return await this.#keep(state.segment);
      case "deciding":
        return await this.#decide(state.segment);
      case "releasing":
        return await this.#release(state);
      default:
        return unreachable(state);
    }
  }

  async #waiting(state: WriterState): Promise<WriterState> {
    await this.#changed.wait();
    return state;
  }

  /** Decides without a pause, so that no change is missed. */
  #write(state: WriterState & { readonly kind: "writing" }): WriterState | Promise<WriterState> {
    const { segment } = state;
    this.#send(segment);
    if (segment.failure !== undefined) return { kind: "deciding", segment };
    if (this.#released.isAwaited) return { kind: "releasing", segment };
    if (this.#serves && this.#inbox?.isListed !== true) return { kind: "listing", segment };
    if (this.#queue.isEmpty && !this.#serves) return this.#waiting(state);
    if (this.#lease.isDue) return { kind: "keeping", segment };
    if (segment.isFull) return { kind: "opening", avoid: new Set(), full: segment };
    return this.#waiting(state);
  }

  /** Sends what waits, as far as nothing else comes first. */
  #send(segment: ActiveSegment): void {
    while (
      !this.#queue.isEmpty &&
      segment.failure === undefined &&
      !this.#released.isAwaited &&
      !this.#lease.isDue &&
      !segment.isFull &&
      segment.hasRoom(this.#queue.isGroupWhole) &&
      this.#inbox?.mayAdd(segment.nextEntry) !== false
    ) {
      const entry = segment.nextEntry;
      const sent = segment.offer(this.#queue.takeGroup());
      this.#inbox?.sent(sent, segment, entry);
    }
    this.#judgeRefused(segment);
  }

  async #keep(segment: ActiveSegment): Promise<WriterState> {
    const kept = await (this.#inbox?.keepLease(segment) ?? this.#lease.keep([...segment.writer.suspects]));
    if (kept === "wanted") void this.#released.wait();
    if (kept === "lost") segment.supersede(leaseLost(this.log.name));
    return { kind: "writing", segment };
  }

  async #open(avoid: ReadonlySet<BookieId>): Promise<WriterState> {
    const appends = this.#queue.waiting();
    for (const append of appends) if (append.isControl) append.fail(notOwner(this.log.name));
    this.#queue.dropAnswered();
    const resumeOrOpen = async (request: OpenRequest): Promise<Opening> => {
      const segment = await this.#lease.resume();
      return segment === undefined
        ? await openSegment(this.ports, this.log, request)
        : { kind: "opened", segment };
    };
    for (let attempt = 1; !this.#queue.isEmpty || this.#serves; attempt++) {
      try {
        const barred = attempt === 1 ? await this.#lease.enterOrPost(this.#posted !== undefined) : undefined;
        this.#inbox?.entered();
        if (barred?.kind === "served") {
          this.#posted?.postAll(this.#queue.takeAll(), barred);
          break;
        }
        const permit = this.#queue.permit;
        const opening = barred ?? (await this.#bounded("opening", { avoid, permit }, resumeOrOpen));
        const isContest =
          opening.kind === "opened" ? permit?.isOnSilence : "alive" in opening && opening.alive;
        if (permit !== undefined && isContest) await this.#lease.recordContest(permit.from);
        if (opening.kind === "opened") return this.#use(opening.segment);
        if (opening.kind === "sealed") await this.#sealed.refuse(appends, opening.tail);
        else if (opening.kind === "held") for (const append of appends) append.fail(opening.error);
        else for (const append of appends) append.answer(opening);
        break;
      } catch (error) {
        if (!(error instanceof FencelineError)) throw error;
        if (error.code === "fenced" && !this.#lease.isReady) break; // the next step waits for the lease
        if (!this.#lease.isReady || !error.retryable || attempt >= limits.segmentOpenAttempts) {
          for (const append of appends) append.fail(withoutEffect(error));
          break;
        }
      }
      await backoff(this.ports, attempt);
    }
    this.#inbox?.giveUp(); // this process cannot write the log, or another one serves
    this.#queue.dropAnswered(); // what came later is tried again
    return { kind: "cold", avoid };
  }

  async #roll(full: ActiveSegment): Promise<WriterState> {
    await this.#answered(full);
    if (full.failure !== undefined) return { kind: "deciding", segment: full };
    if ((await this.#inbox?.drain()) === false) return { kind: "releasing", segment: full };
    const avoid = full.writer.suspects;
    const last = { ...full.opened, producers: full.producers };
    const roll = (request: OpenRequest) => rollSegment(this.ports, this.log, last, full.writer, request);
    try {
      const opening = await this.#bounded("rolling", { avoid, permit: undefined }, roll);
      if (opening.kind === "opened") return this.#use(opening.segment);
    } catch (error) {
      if (!(error instanceof FencelineError)) throw error;
    }
    // Nothing was outstanding. Opening says what stands in the way.
    return { kind: "opening", avoid };
  }

  #bounded(
    what: string,
    request: Pick<OpenRequest, "avoid" | "permit">,
    open: (request: OpenRequest) => Promise<Opening>,
  ): Promise<Opening> {
    const avoid = new Set([...request.avoid, ...this.#lease.suspects]);
    const allowed = { ...request, avoid, holdsLease: () => this.#lease.isReady };
    const name = `${what} a segment of log ${this.log.name}`;
    return this.#lease.during(() => boundedOpening(this.ports, name, allowed, open));
  }

  #use(opened: OpenedSegment): WriterState {
    const start = this.#lease.startOf(opened);
    const segment = new ActiveSegment(this.ports, this.log, opened, start, this.#changed);
    return { kind: this.#serves ? "listing" : "writing", segment };
  }

  /** Finds out what became of everything in flight (LW2), then goes on without the segment. */
  async #decide(segment: ActiveSegment): Promise<WriterState> {
    this.#inbox?.close();
    await this.#answered(segment);
    const restarts = this.#restart(await decideAppends(this.ports, this.log, segment));
    if (restarts > 0) await backoff(this.ports, restarts);
    if (this.#inbox?.isListed) return { kind: "releasing", segment: undefined, failed: segment };
    return { kind: "cold", avoid: segment.writer.suspects };
  }

  async #release({ segment, failed: before }: WriterState & { kind: "releasing" }): Promise<WriterState> {
    this.#inbox?.close();
    if (segment !== undefined) await this.#answered(segment);
    if (segment?.failure !== undefined) return { kind: "deciding", segment };
    await this.#inbox?.drain();
    const suspects = (segment ?? before)?.writer.suspects;
    await (this.#inbox ?? this.#lease).release(segment?.leave(), suspects);
    this.#released.wake();
    // Processes that wait for the lease look for it meanwhile.
    if (!this.#queue.isEmpty) await pause(this.ports.clock, limits.leaseYieldMs);
    return { kind: "cold", avoid: suspects ?? new Set() };
  }

  /** Resolves when every add is answered, and the ledger writer is done with its ensemble. */
  async #answered(segment: ActiveSegment): Promise<void> {
    this.#judgeRefused(segment);
    while (!segment.isAnswered) {
      await this.#changed.wait();
      this.#judgeRefused(segment);
    }
    await segment.writer.settled();
  }

  #judgeRefused(segment: ActiveSegment): void {
    for (const refused of segment.takeRefused()) void this.#judge(segment, refused);
  }

  /** LW4 */
  async #judge(segment: ActiveSegment, refused: RefusedAppend): Promise<void> {
    const { append } = refused;
    try {
      const verdict = await judgeRefusal(this.ports, this.log, segment.opened, refused, segment.tail);
      if (verdict.kind === "acknowledged") return append.acknowledge(verdict.ack);
      if (verdict.kind === "refused") return append.fail(verdict.error);
      this.#restart([append]);
      segment.supersede(verdict.reason);
    } catch (error) {
      append.answer(failed(error instanceof FencelineError ? withoutEffect(error) : error));
    }
  }
}
