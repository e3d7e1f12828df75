/**
 * The writer lease of one log as one process lives with it: which tenure its entries carry, whether it may go
 * on in the ledger that another left, and what it leaves behind itself (rules 16 to 20). Without a lease
 * store every opening is a tenure of its own, and nothing is ever resumed.
 *
 * WT1 `release` forgets the lease before it sends the release: nothing is added in that tenure any more,
 *     whatever the answer (17). The caller has left its segment before.
 * WT2 What a clean acquire returned is used once, by its own tenure (18); any failure on the way leads to
 *     recovery.
 * WT3 The lease is read and written on use, and while a segment is being opened. No timer runs between
 *     requests, so a frozen process that thaws finds out at its next use; what it sends before then belongs
 *     to its own tenure or is fenced.
 */
import { assert } from "../../assert.ts";
import { Age, type Clock, type Timer } from "../../deadline.ts";
import {
  type BookieId,
  type LeaseBirth,
  type LedgerId,
  NO_ENTRY,
  nextEntry,
  type Region,
  type Tenure,
} from "../../ids.ts";
import { isSameVersion, ledgerKey, segmentKey } from "../../items.ts";
import type { LedgerTail, OwedLedger } from "../../lease.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { freshStart, type WriterStart } from "../../ledger/ledger-writer.ts";
import { limits } from "../../limits.ts";
import { beforeSegment } from "../chain/segment-end.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { LogPorts } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { leaseLost } from "../opening/not-the-writer.ts";
import type { LeftSegment, OpenedSegment } from "../opening/start-segment.ts";
import { type ProducerSource, restoreProducers } from "../producers/producer-snapshot.ts";
import {
  acquireLease,
  type HeldLease,
  type LeaseRefusal,
  leasePorts,
  listOwed,
  type Renewal,
  releaseLease,
  renewContested,
  renewLease,
  type ServedElsewhere,
} from "./lease-steps.ts";

/** Whose tickets a holder may send, and to which ledger. */
export interface TicketsOf {
  readonly birth: LeaseBirth;
  readonly tenure: Tenure;
  readonly ledgerId: LedgerId;
}

/** The tickets that a holder serves, as far as the lease item says something of them (37a, 38). */
interface TenureTickets {
  readonly of: TicketsOf;
  readonly isAnswered: boolean;
  raiseFloor(revision: number): number;
  close(): void;
}

export class WriterLease {
  #held: HeldLease | undefined;
  /** What this tenure's acquire may go on from (WT2). */
  #tail: LedgerTail | undefined;
  /** The segment that this process itself left, with the metadata that it knows of it. */
  #left: OpenedSegment | undefined;
  #isEntering = false;
  /** The last renewal that got no answer. */
  #unanswered: Age | undefined;

  constructor(
    private readonly ports: LogPorts,
    private readonly log: LogRef,
  ) {}

  /** Whether the lease is to be kept before anything more is sent. */
  get isDue(): boolean {
    if (this.#held === undefined || !isRenewalDue(this.ports.clock, this.#held)) return false;
    return this.#unanswered?.isWithin(limits.leaseRenewAheadMs) !== true;
  }

  /** The lease is this process's, or on its way to it: a release is of either. */
  get isHeld(): boolean {
    return this.#held !== undefined || this.#isEntering;
  }

  /** Whether a segment may be opened: the lease is held, or there are none. */
  get isReady(): boolean {
    return this.ports.leases === undefined || this.#held !== undefined;
  }

  /** Undefined: the lease is not held, as far as this process knows. */
  get tenure(): Tenure | undefined {
    return this.#held?.lease.tenure;
  }

  /** Bookies that failed the holder before. */
  get suspects(): readonly BookieId[] {
    return this.#held?.lease.suspects ?? [];
  }

  /** Makes sure that the lease is this process's. Undefined: it is. */
  async enter(): Promise<LeaseRefusal | undefined> {
    const barred = await this.enterOrPost(false);
    assert(barred?.kind !== "served", "a process that may not post waits for the lease");
    return barred;
  }

  /** The same, unless `mayPost` and another process serves the log's inbox. */
  async enterOrPost(mayPost: boolean): Promise<LeaseRefusal | ServedElsewhere | undefined> {
    if (this.ports.leases === undefined) return undefined;
    if (this.#held !== undefined && (await this.keep(this.suspects)) !== "lost") return undefined;
    this.#isEntering = true;
    const acquired = await acquireLease(
      leasePorts(this.ports, this.ports.leases),
      this.log.incarnation,
      this.ports.leases.holder,
      mayPost,
    ).finally(() => {
      this.#isEntering = false;
    });
    if (acquired.kind !== "acquired") return acquired;
    this.#held = acquired.held;
    this.#tail = acquired.tail;
    this.ports.trace.emit({
      event: "lease-acquired",
      log: this.log.incarnation,
      clean: acquired.tail !== undefined,
    });
    return undefined;
  }

  /** The segment to go on in, if the lease came with one; asked again it is undefined (WT2). */
  async resume(): Promise<OpenedSegment | undefined> {
    const tail = this.#tail;
    this.#tail = undefined;
    if (tail === undefined) return undefined;
    const left = this.#left;
    this.#left = undefined;
    return await resumeSegment(this.ports, this.log, tail, left);
  }

  /** How the ledger writer of a segment that was opened or resumed in this tenure begins. */
  startOf(opened: OpenedSegment): WriterStart {
    const fresh = freshStart(this.ports.random, this.#held?.lease.tenure);
    const { tail } = opened;
    if (tail === undefined) return fresh;
    const { lastAddConfirmed, ledgerBytes: length } = tail;
    return { tenure: fresh.tenure, lastAddConfirmed, length, suspects: this.suspects };
  }

  /**
   * Keeps the lease while a segment is opened, which may outlast it: two processes that took it from one
   * another in the middle of that would fence each other for ever. No renewal is under way when this settles.
   * Throws `fenced` if the lease is another's by then: what was opened is left as it is.
   */
  async during<T>(opening: () => Promise<T>): Promise<T> {
    const { clock } = this.ports;
    let renewing = Promise.resolve();
    let timer: Timer | undefined;
    let isOver = false;
    const beat = () => {
      timer = clock.startTimer(limits.leaseRenewAheadMs, () => {
        renewing = this.keep(this.suspects).then(() => void (isOver || beat()));
      });
    };
    if (this.#held !== undefined) beat();
    const [outcome] = await Promise.allSettled([opening()]);
    isOver = true;
    timer?.cancel();
    await renewing;
    if (!this.isReady) throw leaseLost(this.log.name);
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  }

  /** Renews. "lost": another process has it. "wanted": another process waits for it. */
  async keep(suspects: readonly BookieId[], served?: TenureTickets): Promise<"kept" | "wanted" | "lost"> {
    if (this.ports.leases === undefined || this.#held === undefined) return "kept";
    const floor = served?.raiseFloor(this.#held.version.revision);
    const leases = leasePorts(this.ports, this.ports.leases);
    const kept = this.#renewed(await renewLease(leases, this.#held, suspects, floor));
    if (served !== undefined && !this.#lists(served)) served.close();
    return kept;
  }

  /** Whether the item, as this process last saw it, names the tickets' tenure and their ledger (37a). */
  #lists({ of }: TenureTickets): boolean {
    const { birth, owed = [] } = this.#held?.lease ?? {};
    const isIt = ({ tenure, ledgerId }: OwedLedger) => tenure === of.tenure && ledgerId === of.ledgerId;
    return birth === of.birth && owed.some(isIt);
  }

  /**
   * Lists the ledger in the lease item, in place of the tenure's former one: tickets may be sent to it then
   * (37a, 37b). Undefined: that is not known to have happened.
   */
  async list(ledgerId: LedgerId): Promise<TicketsOf | undefined> {
    const held = this.#held;
    if (this.ports.leases === undefined || held === undefined) return undefined;
    if (held.lease.owed.length >= inboxLimits.owedLedgersMax) return undefined;
    const renewal = await listOwed(leasePorts(this.ports, this.ports.leases), held, ledgerId);
    this.#renewed(renewal);
    if (renewal.kind !== "kept") return undefined;
    const { birth, tenure } = renewal.held.lease;
    return birth === undefined || birth !== held.lease.birth ? undefined : { birth, tenure, ledgerId };
  }

  /** Notes in the lease that the log was taken from `region`, or that a takeover found that region alive. */
  async recordContest(region: Region): Promise<void> {
    if (this.ports.leases === undefined || this.#held === undefined) return;
    this.#renewed(await renewContested(leasePorts(this.ports, this.ports.leases), this.#held, region));
  }

  #renewed(renewal: Renewal): "kept" | "wanted" | "lost" {
    if (renewal.kind === "lost") {
      this.#held = undefined;
      this.#tail = undefined;
      this.ports.trace.emit({ event: "lease-lost", log: this.log.incarnation });
      return "lost";
    }
    if (renewal.kind === "unknown") {
      this.#unanswered = new Age(this.ports.clock);
      return "kept";
    }
    this.#held = renewal.held;
    return renewal.held.lease.wanted ? "wanted" : "kept";
  }

  /**
   * Releases the lease: clean if there is a segment `left` to go on in, of this tenure, which has nothing
   * outstanding, nor ever will (WT1). `suspects`: bookies that failed the holder. Absent: as the holder found
   * them. Never throws.
   */
  async release(
    left?: LeftSegment,
    suspects: Iterable<BookieId> = this.suspects,
    served?: TenureTickets,
  ): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    this.#tail = undefined;
    if (this.ports.leases === undefined || held === undefined) return;
    this.#left = left;
    const tail = left?.tail;
    await releaseLease(leasePorts(this.ports, this.ports.leases), held, {
      ...(tail === undefined ? {} : { tail }),
      suspects: [...suspects],
      ...(served === undefined ? {} : { isAnswered: served.isAnswered }),
    });
    this.ports.trace.emit({ event: "lease-released", log: this.log.incarnation, clean: tail !== undefined });
  }
}

/** Whether this lease should be renewed before it is relied on; so too if the clock went back. */
export function isRenewalDue(clock: Clock, held: HeldLease): boolean {
  const leftMs = held.lease.expiresAtMs - clock.nowMs();
  return leftMs < limits.leaseRenewAheadMs || leftMs > limits.leaseTtlMs;
}

/**
 * Goes on in the ledger that a clean release left open (rule 19). A process that knows the ledger's metadata
 * as the lease names it asks nothing; any other reads it after the acquire. An OPEN ledger is the last
 * segment's: the next one starts only behind a CLOSED one (22), and it passed its check before it came into
 * the lease (35). Undefined: the ledger is not open any more, or not this log's; recover it.
 */
async function resumeSegment(
  ports: LedgerPorts,
  log: LogRef,
  tail: LedgerTail,
  known: OpenedSegment | undefined,
): Promise<OpenedSegment | undefined> {
  const segment: ResumedSegment | undefined = isSame(known, tail)
    ? known
    : await readSegment(ports, log, tail);
  if (segment === undefined) return undefined;
  const { ledgerId } = segment.ledger.item;
  const firstEntry = (tail.lastAddConfirmed + 1) as typeof tail.lastAddConfirmed;
  const producers = await restoreProducers(ports, await producersIn(ports, log, segment, tail, known));
  ports.trace.emit({ event: "segment-resumed", log: log.incarnation, ledgerId, firstEntry });
  return { ...segment, lastTimestampMs: tail.lastTimestampMs, producers, tail };
}

/**
 * A process that left the ledger itself reads only what others have added since, unless a later snapshot is
 * nearer. A ledger without an entry says nothing yet: what came before it does.
 */
async function producersIn(
  ports: LedgerPorts,
  log: LogRef,
  { first, item, ledger }: ResumedSegment,
  { producersAt, lastAddConfirmed: through }: LedgerTail,
  known: OpenedSegment | undefined,
): Promise<ProducerSource | undefined> {
  const left = known?.ledger.item.ledgerId === ledger.item.ledgerId ? known : undefined;
  const where = { ledger: ledger.item, segment: item.number, through };
  const since = left?.tail?.lastAddConfirmed;
  if (left !== undefined && since === through)
    return { ...where, from: nextEntry(through), known: left.producers };
  if (through === NO_ENTRY) return (await beforeSegment(ports, log.incarnation, first)).producersIn;
  if (producersAt === undefined) return undefined;
  if (left === undefined || since === undefined || since < producersAt)
    return { ...where, from: producersAt };
  return { ...where, from: nextEntry(since), known: left.producers };
}

type ResumedSegment = Pick<OpenedSegment, "first" | "item" | "ledger">;

function isSame(known: OpenedSegment | undefined, tail: LedgerTail): known is OpenedSegment {
  if (known === undefined || known.ledger.item.ledgerId !== tail.ledgerId) return false;
  return isSameVersion(known.ledger.version, tail.ledgerVersion);
}

async function readSegment(
  ports: LedgerPorts,
  log: LogRef,
  tail: LedgerTail,
): Promise<ResumedSegment | undefined> {
  const readAt = new Age(ports.clock);
  const ledger = await ports.metadata.get(ledgerKey(tail.ledgerId), "consistent");
  if (ledger?.item.kind !== "ledger" || ledger.item.state !== "OPEN") return undefined;
  const { origin } = ledger.item;
  if (origin?.log !== log.incarnation) return undefined;
  const first = origin.firstSeqNum;
  const item = (await ports.metadata.get(segmentKey(log.incarnation, first), "consistent"))?.item;
  if (item?.kind !== "segment" || item.ledgerId !== tail.ledgerId) return undefined;
  return { first, item, ledger: { ...ledger, item: ledger.item, readAt } };
}
