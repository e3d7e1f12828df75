/**
 * Reads one ledger, with metadata of any age (rules 13, 14).
 *
 * LR1 An entry of an open ledger is returned only by T1 (at most a last add confirmed that some genuine entry
 *     of the ledger carries) or T2 (the one before it is confirmed, and Originals of it were read from an ACK
 *     set of its write set). Recovered copies and Tombstones never count.
 * LR2 "Nothing yet" is said after a negative quorum of `nothing` and then one consistent metadata read that
 *     shows the same version, OPEN.
 * LR3 `confirmed` never falls: an entry that was returned once is returned again.
 * LR4 Nothing is answered on metadata that was read longer ago than a quarter of the seal age (rule 15). It
 *     is the metadata that this very read went by that counts: another read may have asked again meanwhile.
 * LR5 Never fences, never writes.
 */

import { Age } from "../deadline.ts";
import { type BookieVerdict, type FencelineError, insufficientRegions, notReady } from "../errors.ts";
import { type EntryId, type LedgerId, NO_ENTRY, nextEntry, previousEntry } from "../ids.ts";
import { isSameVersion, ledgerKey } from "../items.ts";
import type { LedgerMetadata, OpenLedger } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { SealedEntry, Versioned } from "../ports.ts";
import { GatheredReads } from "../reads/gathered-reads.ts";
import type { ReadCounters } from "../reads/read-counters.ts";
import { ofKind } from "../update-item.ts";
import { isFresh, type LedgerPorts } from "./ledger-ports.ts";
import { highestConfirmed, nearestConfirmed, readAnyCopy, readTailSlot } from "./read-slots.ts";

export type ReadConsistency = "strong" | "local";

export type LedgerRead =
  | { readonly kind: "entry"; readonly entry: SealedEntry }
  /** Rule 14 held: the ledger is open and nothing was acknowledged there when the read began. */
  | { readonly kind: "nothing-yet"; readonly ledger: Versioned<OpenLedger> }
  /** The ledger is closed and ends before that entry. */
  | { readonly kind: "beyond-end"; readonly lastEntry: EntryId }
  | { readonly kind: "deleted" }
  | { readonly kind: "missing" }
  /** Local reads only: no bookie near by knows the entry to be confirmed. */
  | { readonly kind: "unknown-tail" }
  /** Bookies of the tail do not answer: the log's owner has to settle it (rule 14). */
  | { readonly kind: "undecided"; readonly error: FencelineError };

type Step = LedgerRead | { readonly kind: "again" };

interface Known extends Versioned<LedgerMetadata> {
  /** Wall time in ms from before the consistent read began. */
  readonly readAt: Age;
}

/** One read: what is asked for, and where it counts what it cost. */
interface Asked {
  readonly entry: EntryId;
  readonly consistency: ReadConsistency;
  readonly cost: ReadCounters | undefined;
}

export class LedgerReader {
  #known: Known | undefined;
  #confirmed: EntryId = NO_ENTRY;
  #polls = 0;
  readonly #hedges: GatheredReads;

  constructor(
    private readonly ports: LedgerPorts,
    readonly ledgerId: LedgerId,
  ) {
    this.#hedges = new GatheredReads(ports, ledgerId);
  }

  /** The highest entry that this reader may return without asking for a quorum. */
  get confirmed(): EntryId {
    return this.#known?.item.state === "CLOSED" ? this.#known.item.lastEntry : this.#confirmed;
  }

  /**
   * The last entry if the ledger is closed, else the highest last add confirmed that bookies named: a lower
   * bound.
   */
  async confirmedHint(cost?: ReadCounters): Promise<EntryId> {
    while (true) {
      const known = await this.#metadata();
      const hint = await this.#hintFrom(known?.item, cost);
      if (this.#mayAnswerFrom(known)) return hint;
    }
  }

  async #hintFrom(item: LedgerMetadata | undefined, cost?: ReadCounters): Promise<EntryId> {
    if (item === undefined || item.state === "DELETED") return NO_ENTRY;
    if (item.state === "CLOSED") return item.lastEntry;
    return await this.#pollConfirmed(item, cost);
  }

  /** Counts in `cost` what the read cost. */
  async read(entry: EntryId, consistency: ReadConsistency, cost?: ReadCounters): Promise<LedgerRead> {
    for (let round = 0; round < limits.tailRoundsMax; round++) {
      const known = await this.#metadata();
      if (known === undefined) return { kind: "missing" };
      const step = await this.#step(known, { entry, consistency, cost });
      if (step.kind !== "again" && this.#mayAnswerFrom(known)) return step;
    }
    const message = `ledger ${this.ledgerId}: metadata changed ${limits.tailRoundsMax} times meanwhile`;
    return { kind: "undecided", error: notReady(message) };
  }

  async #step(known: Known, asked: Asked): Promise<Step> {
    const { item } = known;
    switch (item.state) {
      case "DELETED":
        return { kind: "deleted" };
      case "CLOSED":
        if (asked.entry > item.lastEntry) return { kind: "beyond-end", lastEntry: item.lastEntry };
        return await this.#readConfirmed(known, asked);
      case "OPEN":
      case "IN_RECOVERY":
        if (asked.entry <= this.#confirmed) return await this.#readConfirmed(known, asked);
        if (asked.consistency === "strong") return await this.#readStrongTail(known, asked);
        await this.#pollConfirmed(item, asked.cost);
        if (asked.entry > this.#confirmed) return { kind: "unknown-tail" };
        return await this.#readConfirmed(known, asked);
    }
  }

  /** Any genuine copy of an entry that is certainly part of the ledger. */
  async #readConfirmed(known: Known, { entry, cost }: Asked): Promise<Step> {
    const copy = await readAnyCopy(this.ports, known.item, entry, { hedges: this.#hedges, cost });
    if (copy.kind === "entry") return copy;
    // The copies may have moved since this metadata was read (H75).
    return await this.#undecided(known, `no copy of entry ${entry} could be read`, copy.verdicts);
  }

  /** T2 builds on the entry before, so every entry from the last confirmed one on is read in its turn. */
  async #readStrongTail(known: Known, asked: Asked): Promise<Step> {
    if (previousEntry(asked.entry) > this.#confirmed) {
      await this.#pollConfirmed(known.item, asked.cost);
      if (asked.entry <= this.#confirmed) return { kind: "again" };
    }
    while (true) {
      const entry = nextEntry(this.#confirmed);
      if (entry > asked.entry) return { kind: "again" };
      const step = await this.#readTailSlot(known, { ...asked, entry });
      if (step.kind !== "entry" || entry === asked.entry) return step;
    }
  }

  async #readTailSlot(known: Known, { entry, cost }: Asked): Promise<Step> {
    const slot = await readTailSlot(this.ports, known.item, entry, cost);
    switch (slot.kind) {
      case "on-ack-set": // T2
        this.#confirm(entry);
        return { kind: "entry", entry: slot.entry };
      case "nothing":
        return await this.#provenTail(known);
      case "undecided":
        this.#confirm(await highestConfirmed(this.ports, known.item, cost)); // T1
        if (entry <= this.#confirmed) return { kind: "again" };
        break;
      case "ask-metadata":
        break;
    }
    return await this.#undecided(
      known,
      `whether entry ${entry} was acknowledged cannot be told`,
      slot.verdicts,
    );
  }

  /** LR2: the consistent read that has to follow the last slot answer. */
  async #provenTail(known: Known): Promise<Step> {
    const now = await this.#refresh();
    if (now === undefined || !isSameVersion(now.version, known.version)) return { kind: "again" };
    if (now.item.state === "OPEN") return { kind: "nothing-yet", ledger: { ...now, item: now.item } };
    const message = `ledger ${this.ledgerId} is being recovered; its end is not known yet`;
    return { kind: "undecided", error: notReady(message) };
  }

  /** Newer metadata may decide what the bookies did not. */
  async #undecided(known: Known, what: string, verdicts: readonly BookieVerdict[]): Promise<Step> {
    const now = await this.#refresh();
    if (now === undefined || !isSameVersion(now.version, known.version)) return { kind: "again" };
    const error = insufficientRegions(`ledger ${this.ledgerId}: ${what}`, verdicts, "none");
    return { kind: "undecided", error };
  }

  /** One bookie, the next one each time: a lower bound. */
  async #pollConfirmed(item: LedgerMetadata, cost?: ReadCounters): Promise<EntryId> {
    this.#confirm(await nearestConfirmed(this.ports, item, this.#polls++, cost));
    return this.#confirmed;
  }

  #confirm(entry: EntryId): void {
    if (entry > this.#confirmed) this.#confirmed = entry;
  }

  /** Metadata of any age, but not so old that nothing may be answered from it (LR4). */
  async #metadata(): Promise<Known | undefined> {
    const known = this.#known;
    return known !== undefined && this.#mayAnswerFrom(known) ? known : await this.#refresh();
  }

  /** LR4. What is gone is gone: ids are never used again. */
  #mayAnswerFrom(known: Known | undefined): boolean {
    return known === undefined || isFresh(known.readAt);
  }

  async #refresh(): Promise<Known | undefined> {
    const readAt = new Age(this.ports.clock);
    const read = ofKind(await this.ports.metadata.get(ledgerKey(this.ledgerId), "consistent"), "ledger");
    this.#known = read === undefined ? undefined : { ...read, readAt };
    return this.#known;
  }
}
