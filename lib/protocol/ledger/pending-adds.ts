/**
 * The writer's queues: entries that were sent and not yet acknowledged, in entry-id order, and adds that wait
 * for room or for the end of an ensemble change, none of which was sent.
 *
 * PAD1 Ids in the queue are consecutive; the head is the last add confirmed plus one.
 * PAD2 An ack counts for the bookie that stands at the position now; a replaced bookie's acks are dropped.
 */
import { assert } from "../assert.ts";
import { sealEntry } from "../entry.ts";
import { type EntryId, nextEntry, type Region } from "../ids.ts";
import { lastFragment, type OpenLedger } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { EntryHeader, SealedEntry, Trace } from "../ports.ts";
import {
  type BookieAddress,
  type Fragment,
  isAckSet,
  memberAt,
  type Replication,
  waitsForRegions,
  writeSetPositions,
} from "../replication.ts";
import { Signal } from "../waiting.ts";
import { callBookie, type LedgerPorts } from "./ledger-ports.ts";

export interface AddedEntry {
  readonly entryId: EntryId;
  /** Regions whose bookies are known to hold the entry. */
  readonly regions: readonly Region[];
}

/** Where the outcome of an add goes. */
interface Caller {
  readonly resolve: (added: AddedEntry) => void;
  readonly reject: (error: unknown) => void;
}

export interface PendingAdd extends Caller {
  readonly entry: SealedEntry;
  /** Ensemble positions that answered OK. */
  readonly acked: Set<number>;
  /** Ensemble positions whose outcome is unknown, and what was last heard of them. */
  readonly failed: Map<number, string>;
}

/** An add that was not sent yet. */
export interface HeldAdd extends Caller {
  readonly payload: Uint8Array;
}

export class PendingAdds {
  #queue: PendingAdd[] = [];
  #bytes = 0;
  readonly #waitedForRegions = new WeakSet<PendingAdd>();
  #regionWaits = 0;
  #held: HeldAdd[] = [];
  readonly #idle = new Signal();

  /** Nothing was sent or waits. */
  get isIdle(): boolean {
    return this.#queue.length + this.#held.length === 0;
  }

  /** Payload bytes of all that was sent or waits. */
  get bytes(): number {
    return this.#held.reduce((sum, { payload }) => sum + payload.length, this.#bytes);
  }

  /** Resolves when it may be idle. */
  idle(): Promise<void> {
    return this.#idle.wait();
  }

  wakeIfIdle(): void {
    if (this.isIdle) this.#idle.wake();
  }

  hold(add: HeldAdd): void {
    this.#held.push(add);
  }

  /** The next add to send, if there is room for it. */
  takeHeld(): HeldAdd | undefined {
    const next = this.#held[0];
    if (next === undefined || !this.hasRoomFor(next.payload.length)) return undefined;
    return this.#held.shift();
  }

  /** Empties the queue of adds that were not sent. */
  drainHeld(): HeldAdd[] {
    return this.#held.splice(0);
  }

  /** Whether an entry with this payload may be sent now. One entry always may. */
  hasRoomFor(payloadBytes: number): boolean {
    if (this.#queue.length === 0) return true;
    return this.#queue.length < limits.pendingAddsMax && this.#bytes + payloadBytes <= limits.pendingBytesMax;
  }

  push(add: PendingAdd): void {
    const last = this.#queue.at(-1);
    const expected = last === undefined ? undefined : nextEntry(last.entry.header.entryId);
    assert(
      expected === undefined || expected === add.entry.header.entryId,
      "PAD1: pending ids are consecutive",
    );
    this.#queue.push(add);
    this.#bytes += add.entry.payload.length;
  }

  /** The head, if an ACK set of the last fragment's bookies holds it (rule 5). */
  completeHead(ledger: OpenLedger): PendingAdd | undefined {
    const head = this.#queue[0];
    if (head === undefined) return undefined;
    return isAckSet(holdersOf(head, lastFragment(ledger)), ledger.replication) ? head : undefined;
  }

  /**
   * Traces adds that an ack quorum holds and no ACK set, for want of regions: each once, with how many
   * there were. Placement sees to it that there is none.
   */
  noteMissingRegions(ledger: OpenLedger, trace: Trace): void {
    const { ledgerId, replication } = ledger;
    if (replication.minRegions <= 1) return;
    const fragment = lastFragment(ledger);
    for (const add of this.#queue) {
      if (add.acked.size < replication.ackQuorum || this.#waitedForRegions.has(add)) continue;
      if (!waitsForRegions(holdersOf(add, fragment), replication)) continue;
      this.#waitedForRegions.add(add);
      this.#regionWaits += 1;
      const { entryId } = add.entry.header;
      const regions = ackedRegions(add, fragment);
      trace.emit({ event: "ack-waits-for-regions", ledgerId, entryId, regions, count: this.#regionWaits });
    }
  }

  /**
   * An add for which failures leave no ACK set within reach: then, and only then, the ensemble changes (rule
   * 6).
   */
  blocked(ledger: OpenLedger): PendingAdd | undefined {
    const { replication } = ledger;
    const fragment = lastFragment(ledger);
    return this.#queue.find((add) => {
      if (add.failed.size === 0 && add.acked.size < replication.writeQuorum) return false;
      const positions = writeSetPositions(add.entry.header.entryId, replication);
      const open = positions.filter((position) => !add.failed.has(position));
      return !isAckSet(membersAt(open, fragment), replication);
    });
  }

  shift(): void {
    const head = this.#queue.shift();
    if (head !== undefined) this.#bytes -= head.entry.payload.length;
  }

  all(): readonly PendingAdd[] {
    return this.#queue;
  }

  /** Positions that some pending add failed at, in order. */
  failedPositions(): number[] {
    const failed = new Set(this.#queue.flatMap((add) => [...add.failed.keys()]));
    return [...failed].sort((one, other) => one - other);
  }

  /**
   * The bookies at `positions` were replaced, and the replacements hold every pending entry that is theirs:
   * their OKs count from here on, the acks of those they replaced no more (PAD2, rule 6d).
   */
  adoptCopies(positions: readonly number[], replication: Replication): void {
    for (const add of this.#queue) {
      const writeSet = writeSetPositions(add.entry.header.entryId, replication);
      for (const position of positions.filter((one) => writeSet.includes(one))) {
        add.failed.delete(position);
        add.acked.add(position);
      }
    }
  }

  /** Empties the queue of what was sent. */
  drain(): PendingAdd[] {
    const drained = this.#queue;
    this.#queue = [];
    this.#bytes = 0;
    return drained;
  }
}

/** The regions that hold the entry now. */
export function ackedRegions(add: PendingAdd, fragment: Fragment): Region[] {
  return [...new Set(holdersOf(add, fragment).map((holder) => holder.place.region))].sort();
}

function holdersOf(add: PendingAdd, fragment: Fragment): BookieAddress[] {
  return membersAt([...add.acked], fragment);
}

function membersAt(positions: readonly number[], fragment: Fragment): BookieAddress[] {
  return positions.map((position) => memberAt(fragment, position));
}

/** Seals the entry; from here on its place and its bytes never change (LGW1). */
export function sealAdd(
  ports: LedgerPorts,
  { ledgerId, digest }: OpenLedger,
  place: Omit<EntryHeader, "ledgerId">,
  { payload, resolve, reject }: HeldAdd,
): PendingAdd {
  const entry = sealEntry(ports.digest, digest, { ledgerId, ...place }, payload);
  return { entry, acked: new Set(), failed: new Map(), resolve, reject };
}

export function sendAdd(ports: LedgerPorts, bookie: BookieAddress, entry: SealedEntry) {
  const { ledgerId, entryId } = entry.header;
  const what = `add ${entryId}`;
  return callBookie(ports, { ledgerId, bookie, what }, (port) => port.add(entry));
}
