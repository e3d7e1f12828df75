/**
 * Hedges of one batch: entries of one ledger that are read at the same time become late at the same time, and
 * then ask the same replica. What is due within a ms goes out as one message. Each entry is decided on its
 * own all the same: it hedges when it is late, whatever else that replica answers, and pays for itself.
 *
 * GR1 An entry that the message left unknown is asked for alone: unknown is no answer, and no failure either.
 * GR2 The message is cancelled when the reads of all of its entries are; no timer outlives that.
 */
import type { Clock, Timer } from "../deadline.ts";
import type { BookieId, EntryId, LedgerId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Bookie, Bookies, ReadAnswer } from "../ports.ts";
import type { BookieAddress } from "../replication.ts";
import { aborted, CallAbort, type CallSignal, withTimeout } from "../waiting.ts";
import { readLimits } from "./read-limits.ts";

interface Member {
  readonly entry: EntryId;
  readonly signal: CallSignal;
  readonly resolve: (answer: ReadAnswer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Gathering {
  readonly members: Set<Member>;
  readonly timer: Timer;
}

export class GatheredReads {
  readonly #gatherings = new Map<BookieId, Gathering>();

  constructor(
    private readonly ports: { readonly clock: Clock; readonly bookies: Bookies },
    private readonly ledgerId: LedgerId,
  ) {}

  /** Reads the entry, together with others that are asked of this bookie within a ms. */
  async read(address: BookieAddress, entry: EntryId, signal: CallSignal): Promise<ReadAnswer> {
    const bookie = this.ports.bookies.bookie(address.id);
    const answer = bookie.readSeveral === undefined ? undefined : await this.#join(bookie, entry, signal);
    if (answer !== undefined) return answer;
    if (signal.aborted) throw aborted(`read ${entry}`);
    const what = `read ${entry}`;
    const ask = () => bookie.read(this.ledgerId, entry, signal);
    return await withTimeout(this.ports.clock, limits.bookieCallTimeoutMs, what, ask, signal);
  }

  #join(bookie: Bookie, entry: EntryId, signal: CallSignal): Promise<ReadAnswer | undefined> {
    return new Promise((resolve, reject) => {
      const gathering = this.#gatheringFor(bookie);
      const member = { entry, signal, resolve, reject };
      gathering.members.add(member);
      signal.onAbort(() => {
        reject(aborted(`read ${entry}`));
        if (!gathering.members.delete(member) || gathering.members.size > 0) return;
        gathering.timer.cancel();
        if (this.#gatherings.get(bookie.id) === gathering) this.#gatherings.delete(bookie.id);
      });
      if (gathering.members.size < readLimits.gatheredMax) return;
      gathering.timer.cancel();
      this.#send(bookie, gathering);
    });
  }

  #gatheringFor(bookie: Bookie): Gathering {
    const known = this.#gatherings.get(bookie.id);
    if (known !== undefined) return known;
    const send = () => this.#send(bookie, gathering);
    const timer = this.ports.clock.startTimer(readLimits.gatherMs, send);
    const gathering: Gathering = { members: new Set(), timer };
    this.#gatherings.set(bookie.id, gathering);
    return gathering;
  }

  #send(bookie: Bookie, gathering: Gathering): void {
    if (this.#gatherings.get(bookie.id) === gathering) this.#gatherings.delete(bookie.id);
    const members = [...gathering.members];
    gathering.members.clear();
    const [only] = members;
    // Alone it is a read like any other.
    if (only !== undefined && members.length === 1) only.resolve(undefined);
    else this.#ask(bookie, members);
  }

  #ask(bookie: Bookie, members: readonly Member[]): void {
    const all = new CallAbort();
    let waiting = members.length;
    for (const { signal } of members) {
      signal.onAbort(() => {
        waiting -= 1;
        if (waiting === 0) all.abort();
      });
    }
    const entries = members.map(({ entry }) => entry);
    const ask = async () => {
      const answers = bookie.readSeveral?.(this.ledgerId, entries, all);
      return (await answers) ?? entries.map(() => undefined);
    };
    withTimeout(this.ports.clock, limits.bookieCallTimeoutMs, `read ${entries.join(", ")}`, ask, all).then(
      (answers) => {
        for (const [index, member] of members.entries()) member.resolve(answers[index]);
      },
      (error) => {
        for (const member of members) member.reject(error);
      },
    );
  }
}
