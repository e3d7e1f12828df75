/**
 * One process's warm writer of one log. Appends go through it in the order of their arrival: into the open
 * segment, many at a time; when that fails they are decided, and what is certainly not recorded goes on in
 * the next segment, in the same order.
 *
 * N1 One loop does everything that takes time, one thing at a time: deciding, opening, rolling, sending.
 * N2 An append that may be recorded is never sent again. Only a closed ledger says that it is not (rule 12).
 * N3 Nothing is sent to a segment that this process has not won and checked (rule 25).
 * N4 A mismatch of match_seq_num is told only if the metadata, read after the append arrived, says that the
 *    segment's ledger is open: a writer that was superseded unawares does not know the tail.
 *
 * The place of the writer lease (rules 16 to 20) is before `#open` and at the end of `#run`: acquire and go
 * on in the ledger that a clean release left open, or else open; release when nothing is outstanding. Until
 * it is there, the last region that appended owns the log, and any other takes it over with its first
 * append.
 */
import { present } from "../assert.ts";
import { FencelineError } from "../errors.ts";
import type { BookieId, SeqNum } from "../ids.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import { limits } from "../limits.ts";
import { within } from "../waiting.ts";
import { ActiveSegment } from "./active-segment.ts";
import { checkAppend } from "./append-checks.ts";
import { notOwner, tooManyRestarts, unknownOutcome, withoutEffect } from "./append-errors.ts";
import { AppendQueue } from "./append-queue.ts";
import { decideAppends } from "./decide-appends.ts";
import { type OpenRequest, openSegment } from "./open-segment.ts";
import type { AppendAck, AppendRequest } from "./operations.ts";
import { PendingAppend, type PendingAppendFields } from "./pending-append.ts";
import { restartPause } from "./restart-pause.ts";
import { rollSegment } from "./roll-segment.ts";
import { type RecordsAt, seqNumMismatch } from "./seq-num-mismatch.ts";
import type { LogIdentity, OpenedSegment } from "./start-segment.ts";

export class LogWriter {
  readonly #queue: AppendQueue;
  #segment: ActiveSegment | undefined;
  #running = false;
  #wake: (() => void) | undefined;
  #avoid: ReadonlySet<BookieId> = new Set();

  constructor(
    private readonly ports: LedgerPorts,
    readonly log: LogIdentity,
    private readonly recordsAt: RecordsAt,
  ) {
    this.#queue = new AppendQueue(log.name);
  }

  /** Nothing is waiting, in flight or in doubt. */
  get isIdle(): boolean {
    return !this.#running && !this.#hasWork() && (this.#segment?.isIdle ?? true);
  }

  /** Resolves when the batch is acknowledged. Throws what `AppendOperations.append` may. */
  async append(request: AppendRequest): Promise<AppendAck> {
    const bytes = checkAppend(request, this.ports.clock.nowMs());
    const { records, matchSeqNum } = request;
    return await this.#accept({ records, bytes, ...(matchSeqNum === undefined ? {} : { matchSeqNum }) });
  }

  /**
   * Appends a control entry to the open segment (rule 14). False: this process has none, or it turned out
   * to be another's.
   */
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

  #accept(fields: PendingAppendFields): Promise<AppendAck> {
    const append = new PendingAppend(this.ports.clock, this.log.name, fields);
    try {
      this.#queue.push(append);
    } catch (error) {
      append.fail(error);
    }
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
    return !this.#queue.isEmpty || this.#segment?.failure !== undefined;
  }

  async #run(): Promise<void> {
    try {
      while (this.#hasWork()) await this.#step();
    } catch (error) {
      // A defect: what was sent is in doubt, and nothing more is sent to this segment.
      const inFlight = this.#segment?.inFlight ?? [];
      this.#segment = undefined;
      for (const append of [...inFlight, ...this.#queue.takeAll()]) append.fail(error);
    }
  }

  async #step(): Promise<void> {
    const segment = this.#segment;
    if (segment === undefined) return await this.#open();
    if (segment.failure !== undefined) return await this.#decide(segment);
    if (segment.isFull) return await this.#roll(segment);
    if (!segment.hasRoom) return await new Promise((resolve) => (this.#wake = resolve));
    const append = this.#queue.take();
    if (append !== undefined && !append.isAnswered) segment.offer(append);
  }

  async #open(): Promise<void> {
    const waiting = this.#queue.takeAll().filter((append) => !append.isAnswered);
    for (const append of waiting) if (append.isControl) append.fail(notOwner(this.log.name));
    this.#queue.putBack(waiting.filter((append) => !append.isControl));
    for (let attempt = 1; !this.#queue.isEmpty; attempt++) {
      try {
        this.#use(await this.#bounded("opening", (request) => openSegment(this.ports, this.log, request)));
        return;
      } catch (error) {
        if (!(error instanceof FencelineError)) throw error;
        if (!error.retryable || attempt >= limits.segmentOpenAttempts) {
          for (const append of this.#queue.takeAll()) append.fail(withoutEffect(error));
          return;
        }
      }
      await restartPause(this.ports, attempt);
    }
  }

  async #roll(segment: ActiveSegment): Promise<void> {
    await segment.settled();
    if (segment.failure !== undefined) return;
    this.#avoid = segment.writer.suspects;
    this.#segment = undefined;
    const { opened, writer } = segment;
    try {
      this.#use(
        await this.#bounded("rolling", (request) =>
          rollSegment(this.ports, this.log, opened, writer, request),
        ),
      );
    } catch (error) {
      // Nothing was outstanding. The next step opens, and tells the waiting what stands in the way.
      if (!(error instanceof FencelineError)) throw error;
    }
  }

  /**
   * A segment that comes too late is left as it is: nothing was sent to it, and whoever opens next recovers
   * it.
   */
  #bounded(what: string, open: (request: OpenRequest) => Promise<OpenedSegment>): Promise<OpenedSegment> {
    const { clock } = this.ports;
    const giveUpAtMs = clock.monotonicMs() + limits.segmentOpenTimeoutMs;
    return within(clock, limits.segmentOpenTimeoutMs, `${what} a segment of log ${this.log.name}`, () =>
      open({ avoid: this.#avoid, giveUpAtMs }),
    );
  }

  #use(opened: OpenedSegment): void {
    const segment: ActiveSegment = new ActiveSegment(this.ports, this.log, opened, {
      mismatch: (append, actual) => void this.#judgeMismatch(segment, append, actual),
      changed: () => this.#kick(),
      doubt: (sent) => unknownOutcome(this.log.name, sent, segment.failure),
    });
    this.#segment = segment;
  }

  /** The segment failed: finds out what became of everything in flight (N2), then goes on without it. */
  async #decide(segment: ActiveSegment): Promise<void> {
    await segment.settled();
    this.#avoid = segment.writer.suspects;
    try {
      const restarts = this.#putBack(await decideAppends(this.ports, this.log, segment));
      if (restarts > 0) await restartPause(this.ports, restarts);
    } finally {
      this.#segment = undefined;
    }
  }

  /** Not recorded: in line again, in front of everything that came later. The most restarts among them. */
  #putBack(appends: readonly PendingAppend[]): number {
    const again = appends.filter((append) => !append.isAnswered);
    for (const append of again) {
      append.restarts += 1;
      if (append.isControl) append.fail(notOwner(this.log.name));
      if (append.restarts > limits.appendRestartsMax) {
        append.fail(tooManyRestarts(this.log.name, append.restarts));
      }
    }
    this.#queue.putBack(again.filter((append) => !append.isAnswered));
    return Math.max(0, ...again.map((append) => append.restarts));
  }

  /**
   * N4. Everything before the append's place is acknowledged, so `actual` is the tail if the ledger is
   * open.
   */
  async #judgeMismatch(segment: ActiveSegment, append: PendingAppend, actual: SeqNum): Promise<void> {
    const { key } = segment.opened.ledger;
    try {
      const ledger = (await this.ports.metadata.get(key, "consistent"))?.item;
      if (ledger?.kind === "ledger" && ledger.state === "OPEN") {
        return append.fail(await this.#mismatch(append, actual));
      }
      this.#putBack([append]);
      const { first } = segment.opened;
      const message = `log ${this.log.name}: the ledger of the segment at ${first} is not open any more`;
      segment.supersede(new FencelineError("fenced", { message }));
      this.#kick();
    } catch (error) {
      append.fail(error instanceof FencelineError ? withoutEffect(error) : error);
    }
  }

  async #mismatch(append: PendingAppend, actual: SeqNum): Promise<FencelineError> {
    const { records, matchSeqNum } = append;
    const expected = present(matchSeqNum, "only a condition can mismatch");
    return await seqNumMismatch(this.log, records, expected, actual, this.recordsAt);
  }
}
