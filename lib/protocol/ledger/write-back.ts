/**
 * Writes recovered entries back until an ACK set holds each (rules 4, 11), replacing bookies that fail on the
 * way. Replacements live in local fragments that nobody else sees before the write that closes (R4); bookies
 * that once left an ensemble may serve again here, since Recovered copies never count for a reader (rule 7).
 */
import {
  type BookieVerdict,
  type BookieWord,
  FencelineError,
  insufficientRegions,
  verdictOf,
} from "../errors.ts";
import type { BookieId, EntryId } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import { knownBookies } from "../placement/new-copies.ts";
import type { PlacementAnswer } from "../placement/placement.ts";
import type { SealedEntry } from "../ports.ts";
import { askBookie, entryCall } from "./ask-bookie.ts";
import { isGenuine } from "./entry.ts";
import { judgeReplacement } from "./judge-replacement.ts";
import { type Fragment, type LedgerInRecovery, lastFragment, withFragment } from "./ledger-metadata.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { isAckSet, writeSet } from "./write-set.ts";

/** What the bookies of one entry said to the write-back. */
interface Held {
  readonly entry: SealedEntry;
  readonly holders: Map<BookieId, BookieAddress>;
  readonly failures: Map<BookieId, BookieWord>;
}

export class WriteBack {
  #fragments: readonly Fragment[];

  constructor(
    private readonly ports: LedgerPorts,
    private readonly ledger: LedgerInRecovery,
  ) {
    this.#fragments = [lastFragment(ledger)];
  }

  /** The last fragment of the metadata, and those that recovery changed or added after it. */
  get localFragments(): readonly Fragment[] {
    return this.#fragments;
  }

  /**
   * Resolves when an ACK set holds each entry; they are consecutive. Throws `insufficient_regions` if too few
   * bookies can be had, and `data_corrupt` if a slot holds an Original of other content: then nothing may be
   * closed.
   */
  async hold(entries: readonly SealedEntry[]): Promise<void> {
    const unfit = new Set<BookieId>();
    let todo: readonly Held[] = entries.map((entry) => ({ entry, holders: new Map(), failures: new Map() }));
    while (todo.length > 0) {
      await Promise.all(todo.map((held) => this.#writeOut(held, unfit)));
      const firstOpen = todo.findIndex((held) => !this.#isHeld(held));
      if (firstOpen < 0) return;
      todo = todo.slice(firstOpen);
      this.#replaceFailed(todo, unfit);
    }
  }

  /**
   * Resolves when an ACK set holds the entry, or when every bookie of its write set has answered or failed.
   */
  #writeOut(held: Held, unfit: Set<BookieId>): Promise<void> {
    if (this.#isHeld(held)) return Promise.resolve();
    const missing = this.#writeSet(held.entry).filter(
      (one) => !held.holders.has(one.id) && !unfit.has(one.id),
    );
    return new Promise((resolve, reject) => {
      const writes = missing.map(async (bookie) => {
        await this.#writeTo(held, bookie, unfit);
        if (this.#isHeld(held)) resolve();
      });
      Promise.all(writes).then(() => resolve(), reject);
    });
  }

  async #writeTo(held: Held, bookie: BookieAddress, unfit: Set<BookieId>): Promise<void> {
    const { ledgerId, entryId } = held.entry.header;
    const what = entryCall("recovery add", entryId);
    const answer = await askBookie(this.ports, {
      ledgerId,
      bookie,
      what,
      call: (port) => port.recoveryAdd(held.entry),
    });
    if (answer.kind === "ok") {
      held.holders.set(bookie.id, bookie);
      return;
    }
    if (answer.kind === "conflict" && isGenuine(this.ports.digest, this.ledger, answer.occupant, entryId)) {
      throw new FencelineError("data_corrupt", {
        message: `ledger ${ledgerId}: ${bookie.id} holds another entry ${entryId}: two writers at once`,
        retryable: false,
      });
    }
    // A damaged Original is never replaced (rule 4); its bookie cannot hold this entry, another one can.
    if (answer.kind === "conflict") {
      this.ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId, bookie: bookie.id });
    }
    const damaged: BookieWord = { kind: "answered", said: "has a damaged copy" };
    held.failures.set(bookie.id, answer.kind === "conflict" ? damaged : answer);
    unfit.add(bookie.id);
  }

  #isHeld(held: Held): boolean {
    const holders = this.#writeSet(held.entry).filter((bookie) => held.holders.has(bookie.id));
    return isAckSet(holders, this.ledger.replication);
  }

  /** A local fragment from the first entry that is not held yet; earlier entries stay where they are. */
  #replaceFailed(todo: readonly Held[], unfit: ReadonlySet<BookieId>): void {
    const first = todo[0];
    const fragment = this.#fragments.at(-1);
    if (first === undefined || fragment === undefined) return;
    const positions = fragment.ensemble.flatMap((member, position) =>
      unfit.has(member.id) ? [position] : [],
    );
    const answer = this.#choose(fragment, positions, unfit);
    if (answer.kind === "refused") {
      const { ledgerId, entryId } = first.entry.header;
      const what = `ledger ${ledgerId}: entry ${entryId} cannot be written back: ${answer.reason}`;
      throw insufficientRegions(what, this.#verdicts(first), "possible");
    }
    const firstEntry = first.entry.header.entryId;
    this.#fragments = withFragment(this.#fragments, { firstEntry, ensemble: answer.ensemble });
  }

  #choose(fragment: Fragment, positions: readonly number[], unfit: ReadonlySet<BookieId>): PlacementAnswer {
    if (positions.length === 0)
      return { kind: "refused", reason: "its ensemble cannot form an ACK set at all" };
    const { ledgerId, replication } = this.ledger;
    const request = (chosen: readonly number[]) => {
      const answer = this.ports.placement.replaceBookies({
        ledgerId,
        replication,
        ...knownBookies(this.ports),
        excluded: unfit,
        fragment,
        positions: chosen,
        othersMayLeave: true,
      });
      return judgeReplacement(answer, { before: fragment.ensemble, replication, barred: unfit });
    };
    let answer = request(positions);
    // Not all can be replaced: one more bookie may be enough for an ACK set.
    for (const position of positions) {
      if (answer.kind === "ensemble" || positions.length === 1) return answer;
      answer = request([position]);
    }
    return answer;
  }

  #writeSet(entry: SealedEntry): BookieAddress[] {
    const id: EntryId = entry.header.entryId;
    const fragment = this.#fragments.findLast((one) => one.firstEntry <= id) ?? lastFragment(this.ledger);
    return writeSet(id, fragment, this.ledger.replication);
  }

  #verdicts(held: Held): BookieVerdict[] {
    return this.#writeSet(held.entry).map((bookie) => {
      if (held.holders.has(bookie.id)) return verdictOf(bookie, { kind: "answered", said: "stored it" });
      const reason = "failed on another entry";
      return verdictOf(bookie, held.failures.get(bookie.id) ?? { kind: "unknown", reason });
    });
  }
}
