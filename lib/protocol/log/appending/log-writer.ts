/**
 * One process's warm writer of one log. Appends go through it in the order of their arrival, into the open
 * segment; when that fails they are decided, and what is certainly not recorded goes on in the next one.
 *
 * N1 One loop does all that takes time, one thing at a time: deciding, opening, rolling, sending.
 * N2 An append that may be recorded is never sent again. Only a closed ledger says that it is not (rule 12).
 * N3 Nothing is sent to a segment that this process has not won and checked (rule 25).
 * N4 A mismatch of match_seq_num, or a producer's gap, is told only if the metadata, read after the append
 *    arrived, says that the segment's ledger is open: who was superseded unawares does not know the tail.
 * N5 Nothing is sent without the writer lease: acquired before a segment is opened or resumed, kept on use,
 *    and released only after the segment was let go of (rules 17 to 19).
 */
import { FencelineError } from "../../errors.ts";
import type { BookieId, Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { backoff, pause } from "../../waiting.ts";
import { WriterTenure } from "../lease/writer-tenure.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LogPorts } from "../log-ports.ts";
import { leaseLost, notOwner } from "../opening/not-the-writer.ts";
import { boundedOpening, type OpenRequest, openSegment } from "../opening/open-segment.ts";
import { rollSegment } from "../opening/roll-segment.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import { TakeoverPermit } from "../opening/takeover-permit.ts";
import type { AppendAck, AppendRequest } from "../operations.ts";
import { ActiveSegment } from "./active-segment.ts";
import { checkAppend } from "./append-checks.ts";
import { batchSender } from "./append-content.ts";
import { unknownOutcome, withoutEffect } from "./append-errors.ts";
import { AppendQueue } from "./append-queue.ts";
import { decideAppends } from "./decide-appends.ts";
import { judgeRefusal } from "./judge-refusal.ts";
import { PendingAppend, type PendingAppendFields } from "./pending-append.ts";
import type { RefusedAppend } from "./place-appends.ts";
import { WaitingRefusals } from "./refuse-waiting.ts";

export class LogWriter {
  readonly #queue: AppendQueue;
  #segment: ActiveSegment | undefined;
  readonly #tenure: WriterTenure;
  #running = false;
  /** Whoever waits for the release of the pen. */
  #releasing: (() => void)[] | undefined;
  #wake: (() => void) | undefined;
  readonly #takeover: TakeoverPermit;
  readonly #refusals: WaitingRefusals;
  #avoid: ReadonlySet<BookieId> = new Set();

  constructor(
    private readonly ports: LogPorts,
    readonly log: LogIdentity,
  ) {
    this.#queue = new AppendQueue(log.name);
    this.#tenure = new WriterTenure(ports, log);
    this.#takeover = new TakeoverPermit(ports.clock);
    this.#refusals = new WaitingRefusals(ports, log);
  }

  /** Nothing is waiting, in flight or in doubt. */
  get isIdle(): boolean {
    return !this.#running && !this.#hasWork() && (this.#segment?.isIdle ?? true);
  }

  /** It writes to a segment, and as far as it knows to the last one. */
  get isWarm(): boolean {
    return this.#segment !== undefined && this.#segment.failure === undefined;
  }

  /** Throws what `AppendOperations.append` may. `takeFrom`: the owner that the log may be taken over from. */
  async append(request: AppendRequest, takeFrom?: Region): Promise<AppendAck> {
    const bytes = checkAppend(request, this.ports.clock.nowMs());
    this.#takeover.give(takeFrom);
    return await this.#accept({ ...request, bytes, sender: batchSender(this.ports, request) });
  }

  /** Appends a control entry to its segment (rule 14). False: it has none, or another's by now. */
  async appendControl(): Promise<boolean> {
    if (this.#segment === undefined || this.#segment.failure !== undefined) return false;
    try {
      await this.#accept({ records: [], bytes: 0 });
      return true;
    } catch (error) {
      if (error instanceof FencelineError) return false;
      throw error;
    }
  }

  /**
   * Lets go of the pen, also of one on its way, as soon as what was sent is answered: cleanly if it was
   * acknowledged. Appends that wait acquire it anew. Resolves when it is done; never rejects.
   */
  async release(): Promise<void> {
    if (!this.#tenure.isHeld) return;
    await new Promise<void>((resolve) => {
      this.#releasing = [...(this.#releasing ?? []), resolve];
      this.#kick();
    });
  }

  #accept(fields: PendingAppendFields): Promise<AppendAck> {
    const append = new PendingAppend(this.ports.clock, this.log.name, fields);
    this.#queue.push(append);
    this.#kick();
    return append.outcome;
  }

  /** Starts the loop, or tells it that something has changed. */
  #kick(): void {
    this.#wake?.();
    this.#wake = undefined;
    if (this.#running || !this.#hasWork()) return;
    this.#running = true;
    void this.#run().then(() => {
      this.#running = false;
      this.#kick();
    });
  }

  #hasWork(): boolean {
    return !this.#queue.isEmpty || this.#segment?.failure !== undefined || this.#releasing !== undefined;
  }

  async #run(): Promise<void> {
    try {
      while (this.#hasWork()) await this.#step();
    } catch (error) {
      // A defect: what was sent is in doubt, and nothing more is sent to this segment.
      for (const append of [...(this.#segment?.inFlight ?? []), ...this.#queue.waiting()]) append.fail(error);
      this.#segment = undefined;
      this.#queue.dropAnswered();
      this.#tellReleased();
    }
  }

  async #step(): Promise<void> {
    const segment = this.#segment;
    if (segment?.failure !== undefined) return await this.#decide(segment);
    if (this.#releasing !== undefined) return await this.#release(segment);
    if (segment === undefined) return await this.#open().finally(() => this.#takeover.drop());
    if (this.#tenure.isDue) return await this.#keep(segment);
    if (segment.isFull) return await this.#roll(segment);
    const hasRoom = segment.hasRoom(this.#queue.isGroupWhole);
    if (!hasRoom) return await new Promise((resolve) => (this.#wake = resolve));
    segment.offer(this.#queue.takeGroup());
  }

  async #open(): Promise<void> {
    this.#takeover.use();
    const appends = this.#queue.waiting();
    for (const append of appends) if (append.isControl) append.fail(notOwner(this.log.name));
    this.#queue.dropAnswered();
    const resumeOrOpen = async (request: OpenRequest) =>
      (await this.#tenure.resume()) ?? (await openSegment(this.ports, this.log, request));
    for (let attempt = 1; !this.#queue.isEmpty; attempt++) {
      try {
        if (attempt === 1) await this.#tenure.enter();
        return this.#use(await this.#bounded("opening", resumeOrOpen));
      } catch (error) {
        if (!(error instanceof FencelineError)) throw error;
        if (error.code === "fenced" && !this.#tenure.isReady) return; // the next step waits for the pen
        const isHopeless = !error.retryable || error.code === "not_owner";
        if (!this.#tenure.isReady || isHopeless || attempt >= limits.segmentOpenAttempts) {
          await this.#refusals.refuse(appends, error);
          return this.#queue.dropAnswered(); // what came later is tried again
        }
      }
      await backoff(this.ports, attempt);
    }
  }

  async #keep(segment: ActiveSegment): Promise<void> {
    const kept = await this.#tenure.keep([...segment.writer.suspects]);
    if (kept === "wanted") this.#releasing ??= [];
    if (kept === "lost") segment.supersede(leaseLost(this.log.name));
  }

  async #release(segment: ActiveSegment | undefined): Promise<void> {
    await segment?.settled();
    if (segment?.failure !== undefined) return; // decided first
    this.#segment = undefined; // rule 17
    await this.#tenure.release(segment?.leave());
    this.#tellReleased();
    // Those who asked for the pen look for it meanwhile.
    if (!this.#queue.isEmpty) await pause(this.ports.clock, limits.leaseYieldMs);
  }

  #tellReleased(): void {
    for (const released of this.#releasing ?? []) released();
    this.#releasing = undefined;
  }

  async #roll(segment: ActiveSegment): Promise<void> {
    await segment.settled();
    if (segment.failure !== undefined) return;
    this.#avoid = segment.writer.suspects;
    this.#segment = undefined;
    const roll = (request: OpenRequest) =>
      rollSegment(this.ports, this.log, segment.opened, segment.writer, request);
    try {
      this.#use(await this.#bounded("rolling", roll));
    } catch (error) {
      // Nothing was outstanding. The next step opens, and tells the waiting what stands in the way.
      if (!(error instanceof FencelineError)) throw error;
    }
  }

  #bounded(what: string, open: (request: OpenRequest) => Promise<OpenedSegment>): Promise<OpenedSegment> {
    const avoid = new Set([...this.#avoid, ...this.#tenure.suspects]);
    const allowed = { avoid, takeFrom: this.#takeover.from, holdsPen: () => this.#tenure.isReady };
    const name = `${what} a segment of log ${this.log.name}`;
    return this.#tenure.during(() => boundedOpening(this.ports, name, allowed, open));
  }

  #use(opened: OpenedSegment): void {
    const start = this.#tenure.startOf(opened);
    const segment: ActiveSegment = new ActiveSegment(this.ports, this.log, opened, start, {
      refused: (refused) => void this.#judgeRefusal(segment, refused),
      changed: () => this.#kick(),
      doubt: (batch) => unknownOutcome(this.log.name, batch, segment.failure),
    });
    this.#segment = segment;
  }

  /** The segment failed: finds out what became of everything in flight (N2), then goes on without it. */
  async #decide(segment: ActiveSegment): Promise<void> {
    await segment.settled();
    this.#avoid = segment.writer.suspects;
    try {
      const restarts = this.#queue.restart(await decideAppends(this.ports, this.log, segment));
      if (restarts > 0) await backoff(this.ports, restarts);
    } finally {
      this.#segment = undefined;
    }
  }

  async #judgeRefusal(segment: ActiveSegment, refused: RefusedAppend): Promise<void> {
    const { append } = refused;
    try {
      const verdict = await judgeRefusal(this.ports, this.log, segment.opened, refused, segment.tail);
      if (verdict.kind !== "superseded") return append.settle(verdict);
      this.#queue.restart([append]);
      segment.supersede(verdict.reason);
      this.#kick();
    } catch (error) {
      append.fail(error instanceof FencelineError ? withoutEffect(error) : error);
    }
  }
}
