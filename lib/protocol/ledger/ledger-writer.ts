/**
 * One writer's tenure of one open ledger: adds entries, acknowledges them in order, replaces bookies that
 * fail, closes cleanly. Rules 5 to 9.
 *
 * LGW1 An entry is encoded once; every resend is the same object (rule 5).
 * LGW2 Adds are acknowledged in entry-id order, each on an ACK set of its write set in the ensemble that the
 *      metadata names (rule 5). `lastAddConfirmed` is the highest acknowledged entry and never falls.
 * LGW3 While the ensemble changes nothing is acknowledged and nothing new is sent (rule 6a).
 * LGW4 After a fence, or IN_RECOVERY, CLOSED or a foreign change seen in metadata, nothing is acknowledged
 *      any more and the outcome of everything pending is unknown (rule 8).
 * LGW5 Nothing is acknowledged on metadata last read longer ago than a quarter of the seal age (rule 15).
 */
import { assert } from "../assert.ts";
import { Age } from "../deadline.ts";
import {
  FencelineError,
  insufficientRegions,
  notReady,
  unavailable,
  verdictOf,
  withSideEffects,
} from "../errors.ts";
import {
  type BookieId,
  type EntryId,
  type LedgerId,
  NO_ENTRY,
  newTenure,
  nextEntry,
  type Tenure,
} from "../ids.ts";
import { ledgerKey } from "../items.ts";
import { type ClosedLedger, lastFragment, type OpenLedger } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { Versioned } from "../ports.ts";
import type { Random } from "../random.ts";
import { type Fragment, memberAt, positionsOf, writeSetPositions } from "../replication.ts";
import { readItem } from "../update-item.ts";
import { changeEnsemble } from "./change-ensemble.ts";
import { closeCleanly } from "./end-ledger.ts";
import { isFresh, type LedgerPorts } from "./ledger-ports.ts";
import {
  type AddedEntry,
  ackedRegions,
  type HeldAdd,
  type PendingAdd,
  PendingAdds,
  sealAdd,
  sendAdd,
} from "./pending-adds.ts";

type Phase = "open" | "changing-ensemble" | "checking-metadata" | "stopped";

/** How a writer's tenure of an open ledger begins: with a fresh ledger, or where another holder left it. */
export interface WriterStart {
  /** Never given to two writers of one ledger (rule 20). */
  readonly tenure: Tenure;
  /** The writer goes on behind it (rule 19). NO_ENTRY: nobody has added to the ledger. */
  readonly lastAddConfirmed: EntryId;
  /** Payload bytes of the entries up to there. */
  readonly length: number;
  /** Bookies that failed the holder before: the ensemble changes before anything is sent. */
  readonly suspects: readonly BookieId[];
}

export function freshStart(random: Random, tenure: Tenure = newTenure(random)): WriterStart {
  return { tenure, lastAddConfirmed: NO_ENTRY, length: 0, suspects: [] };
}

export class LedgerWriter {
  readonly tenure: Tenure;
  /** Bookies that failed this writer. */
  readonly suspects = new Set<BookieId>();
  readonly #ports: LedgerPorts;
  readonly #pending = new PendingAdds();
  /** From before the last consistent read of the metadata (W5). */
  #readAt: Age | undefined;
  #ledger: Versioned<OpenLedger>;
  #phase: Phase = "open";
  #stopped: FencelineError | undefined;
  #lastAddConfirmed: EntryId;
  #lastAddPushed: EntryId;
  #length: number;
  #closing: Promise<ClosedLedger> | undefined;

  /** `readAt`: of the last consistent read of `ledger`. Without `start` it is fresh. */
  constructor(
    ports: LedgerPorts,
    ledger: Versioned<OpenLedger> & { readonly readAt?: Age | undefined },
    start: WriterStart = freshStart(ports.random),
  ) {
    this.#ports = ports;
    this.#ledger = ledger;
    this.#readAt = ledger.readAt;
    this.tenure = start.tenure;
    this.#lastAddConfirmed = start.lastAddConfirmed;
    this.#lastAddPushed = start.lastAddConfirmed;
    this.#length = start.length;
    const failed = positionsOf(this.#fragment(), new Set(start.suspects));
    if (failed.length > 0) void this.#changeEnsemble(failed);
  }

  /** With the wall time in ms of the last consistent read of it. */
  get ledger(): Versioned<OpenLedger> & { readonly readAt: Age | undefined } {
    return { ...this.#ledger, readAt: this.#readAt };
  }
  get lastAddConfirmed(): EntryId {
    return this.#lastAddConfirmed;
  }
  /** The highest entry that was sent to any bookie. */
  get lastAddPushed(): EntryId {
    return this.#lastAddPushed;
  }
  /** Payload bytes of all entries sent. */
  get length(): number {
    return this.#length;
  }
  get fragmentCount(): number {
    return this.#ledger.item.fragments.length;
  }
  /** Every add was acknowledged and no ensemble change is under way: clean to release or close (9, 18). */
  get isClean(): boolean {
    return this.#phase === "open" && this.#pending.isIdle;
  }
  /** Payload bytes of the adds that are not answered yet. */
  get pendingBytes(): number {
    return this.#pending.bytes;
  }
  /** Why this writer will never acknowledge again. */
  get stopped(): FencelineError | undefined {
    return this.#stopped;
  }

  /**
   * Adds an entry; resolves when it is acknowledged, in entry order. Rejects when the writer stops: with side
   * effects "possible" if the entry was sent, "none" if it was not.
   */
  add(payload: Uint8Array): Promise<AddedEntry> {
    assert(payload.length <= limits.entryPayloadBytesMax, `an entry of ${payload.length} bytes is too long`);
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(withSideEffects(this.#stopped, "none"));
      if (this.#closing !== undefined) return reject(beingClosed(this.#ledger.item.ledgerId));
      this.#pending.hold({ payload, resolve, reject });
      this.#sendHeld();
    });
  }

  /** Waits for what is pending, then closes cleanly or, where that is not possible, by recovery (rule 9). */
  close(): Promise<ClosedLedger> {
    this.#closing ??= this.#close().catch((error) => {
      this.#closing = undefined; // a later call tries again, by recovery
      throw error;
    });
    return this.#closing;
  }

  async #close(): Promise<ClosedLedger> {
    await this.settled();
    const end = this.isClean ? { lastEntry: this.#lastAddConfirmed, length: this.#length } : undefined;
    this.#stop(beingClosed(this.#ledger.item.ledgerId), false);
    return await closeCleanly(this.#ports, this.#ledger, end);
  }

  /** Resolves when every add is answered and no ensemble change is under way. */
  async settled(): Promise<void> {
    while (this.#stopped === undefined && !this.isClean) await this.#pending.idle();
  }

  #sendHeld(): void {
    while (this.#phase === "open") {
      const next = this.#pending.takeHeld();
      if (next === undefined) return;
      this.#send(next);
    }
  }

  #send(held: HeldAdd): void {
    const entryId = nextEntry(this.#lastAddPushed);
    this.#lastAddPushed = entryId;
    this.#length += held.payload.length;
    const place = { entryId, lastAddConfirmed: this.#lastAddConfirmed, length: this.#length };
    const add = sealAdd(this.#ports, this.#ledger.item, { ...place, tenure: this.tenure }, held);
    this.#pending.push(add);
    const positions = writeSetPositions(entryId, this.#ledger.item.replication);
    for (const position of positions) void this.#sendTo(add, position);
  }

  async #sendTo(add: PendingAdd, position: number): Promise<void> {
    const { ledgerId } = this.#ledger.item;
    const bookie = memberAt(this.#fragment(), position);
    const answer = await sendAdd(this.#ports, bookie, add.entry);
    if (this.#phase === "stopped") return;
    if (answer.kind === "fenced") return this.#stop(fenced(ledgerId, `${bookie.id} is fenced`));
    if (memberAt(this.#fragment(), position).id !== bookie.id) return; // replaced meanwhile (PAD2)
    if (answer.kind === "ok") {
      this.suspects.delete(bookie.id);
      add.failed.delete(position);
      add.acked.add(position);
    } else {
      this.suspects.add(bookie.id);
      add.failed.set(position, answer.reason);
    }
    this.#advance();
  }

  /** Delivers what is complete, changes the ensemble if something is blocked, sends what was held. */
  #advance(): void {
    this.#acknowledge();
    this.#pending.noteMissingRegions(this.#ledger.item, this.#ports.trace);
    if (this.#phase === "open" && this.#pending.blocked(this.#ledger.item) !== undefined)
      void this.#changeEnsemble();
    this.#sendHeld();
    this.#pending.wakeIfIdle();
  }

  #acknowledge(): void {
    const { ledgerId } = this.#ledger.item;
    while (this.#phase === "open") {
      const head = this.#pending.completeHead(this.#ledger.item);
      if (head === undefined) return;
      if (!isFresh(this.#readAt)) return void this.#checkMetadata();
      const entryId = head.entry.header.entryId;
      assert(entryId === nextEntry(this.#lastAddConfirmed), "LGW2: acknowledged in entry-id order");
      this.#pending.shift();
      this.#lastAddConfirmed = entryId;
      this.#ports.trace.emit({ event: "entry-acknowledged", ledgerId, entryId });
      head.resolve({ entryId, regions: ackedRegions(head, this.#fragment()) });
    }
  }

  /** Rule 6, with acknowledgements frozen and new adds held back by the phase (LGW3). */
  async #changeEnsemble(failedPositions = this.#pending.failedPositions()): Promise<void> {
    this.#phase = "changing-ensemble";
    const { ledgerId } = this.#ledger.item;
    try {
      const answer = await changeEnsemble(this.#ports, {
        ledger: this.#ledger,
        lastAddConfirmed: this.#lastAddConfirmed,
        unacknowledged: this.#pending.all().map((add) => add.entry),
        failedPositions,
      });
      if (this.#stopped !== undefined) return;
      if (answer.kind === "fenced") return this.#stop(fenced(ledgerId, answer.reason));
      if (answer.kind === "refused") return this.#refused(answer.reason);
      this.#ledger = answer.ledger;
      this.#pending.adoptCopies(answer.positions, answer.ledger.item.replication); // rule 6d
    } catch (error) {
      return this.#stop(metadataSilent(ledgerId, "an ensemble change may or may not be written", error));
    }
    this.#phase = "open";
    this.#advance();
  }

  /** Rule 7: no replacement. The ledger is left to recovery, and what is pending to what recovery finds. */
  #refused(reason: string): void {
    const { ledgerId } = this.#ledger.item;
    this.#ports.trace.emit({ event: "ensemble-change-refused", ledgerId, reason });
    const blocked = this.#pending.blocked(this.#ledger.item);
    this.#phase = "open";
    if (blocked === undefined) this.#advance();
    else this.#stop(outOfBookies(this.#ledger.item, blocked, reason));
  }

  /** LGW5: reads the metadata again before anything more is acknowledged. */
  async #checkMetadata(): Promise<void> {
    this.#phase = "checking-metadata";
    const seen = await seenOpen(this.#ports, this.#ledger.item.ledgerId);
    if (!(seen instanceof Age)) this.#stop(seen);
    else this.#readAt = seen;
    if (this.#stopped !== undefined) return;
    this.#phase = "open";
    this.#advance();
  }

  /** LGW4: rejects everything, once and for all. */
  #stop(reason: FencelineError, trace = true): void {
    if (this.#phase === "stopped") return;
    this.#phase = "stopped";
    this.#stopped = reason;
    const facts = { ledgerId: this.#ledger.item.ledgerId, lastAddConfirmed: this.#lastAddConfirmed };
    const { code, message } = reason;
    if (trace) this.#ports.trace.emit({ event: "writer-stopped", ...facts, code, reason: message });
    for (const add of this.#pending.drain()) add.reject(reason);
    for (const held of this.#pending.drainHeld()) held.reject(withSideEffects(reason, "none"));
    this.#pending.wakeIfIdle();
  }

  #fragment(): Fragment {
    return lastFragment(this.#ledger.item);
  }
}

// Why a writer stopped, said to its callers (rule 8): what was sent may have been recorded, and recovery will
// decide; what no bookie has seen was not.

function fenced(ledgerId: LedgerId, reason: string): FencelineError {
  const message = `ledger ${ledgerId}: ${reason}; recovery decides what was recorded`;
  return new FencelineError("fenced", { message });
}

function beingClosed(ledgerId: LedgerId): FencelineError {
  return notReady(`ledger ${ledgerId} is being closed by its writer`);
}

function metadataSilent(ledgerId: LedgerId, what: string, cause: unknown): FencelineError {
  return unavailable(`ledger ${ledgerId}: ${what}`, "possible", cause);
}

/** Reads the metadata again. From before the read began if the ledger is open, else why the writer stops. */
async function seenOpen(ports: LedgerPorts, ledgerId: LedgerId): Promise<Age | FencelineError> {
  const readAt = new Age(ports.clock);
  try {
    const state = (await readItem(ports.metadata, ledgerKey(ledgerId), "ledger"))?.state ?? "missing";
    return state === "OPEN" ? readAt : fenced(ledgerId, `the ledger is ${state}`);
  } catch (error) {
    return metadataSilent(ledgerId, "its metadata could not be read again", error);
  }
}

/** Too few bookies can be had for `add`; says who answered what. */
function outOfBookies(ledger: OpenLedger, add: PendingAdd, reason: string): FencelineError {
  const fragment = lastFragment(ledger);
  const positions = writeSetPositions(add.entry.header.entryId, ledger.replication);
  const verdicts = positions.map((position) => {
    const bookie = memberAt(fragment, position);
    if (add.acked.has(position)) return verdictOf(bookie, { kind: "answered", said: "stored it" });
    return verdictOf(bookie, { kind: "unknown", reason: add.failed.get(position) ?? "no answer yet" });
  });
  return insufficientRegions(`ledger ${ledger.ledgerId}: ${reason}`, verdicts, "possible");
}
