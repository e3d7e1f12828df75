/**
 * Writes recovered entries back until an ACK set holds each (rules 4, 11), replacing bookies that fail on the
 * way. Replacements live in local fragments that nobody else sees before the write that closes (RL4); bookies
 * that once left an ensemble may serve again here, since Recovered copies never count for a reader (rule 7).
 *
 * WB1 An entry is held once an ACK set of the local fragment has answered OK; silence is never an answer.
 * WB2 Appends wait for this. So others are put in the places of bookies that are late, once: when others have
 *     held an entry for `writeBackPatienceMs`, or at once if the late ones were silent before. Where
 *     placement knows no others, and from then on, each bookie has its whole time.
 */
import type { Clock } from "../deadline.ts";
import { isGenuine } from "../entry.ts";
import { type BookieOutcome, FencelineError, insufficientRegions, verdictOf } from "../errors.ts";
import type { BookieId, EntryId } from "../ids.ts";
import { type LedgerInRecovery, lastFragment, withFragment } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { PlacementAnswer } from "../placement/placement.ts";
import type { SealedEntry } from "../ports.ts";
import { type BookieAddress, type Fragment, isAckSet, positionsOf, writeSet } from "../replication.ts";
import { Signal, withTimeout } from "../waiting.ts";
import { chooseReplacements } from "./change-ensemble.ts";
import { CALL_MS_MAX, callBookie, type LedgerPorts } from "./ledger-ports.ts";

/** One entry on its way to an ACK set: which bookies hold it, which cannot, which have not answered yet. */
class EntryHolders {
  readonly #copies = new Map<BookieId, "asked" | "held" | BookieOutcome>();
  readonly #answers = new Signal();
  #firstHeldAtMs: number | undefined;

  constructor(
    private readonly clock: Clock,
    readonly entry: SealedEntry,
  ) {}

  /** Undefined: that bookie was not asked. An outcome: why it does not hold the entry. */
  copyAt({ id }: BookieAddress): "asked" | "held" | BookieOutcome | undefined {
    return this.#copies.get(id);
  }

  /** How long a bookie has held it, in ms; undefined while none does. */
  get heldForMs(): number | undefined {
    return this.#firstHeldAtMs === undefined ? undefined : this.clock.monotonicMs() - this.#firstHeldAtMs;
  }

  asked({ id }: BookieAddress): void {
    this.#copies.set(id, "asked");
  }

  answered({ id }: BookieAddress, copy: "held" | BookieOutcome): void {
    if (copy === "held") this.#firstHeldAtMs ??= this.clock.monotonicMs();
    this.#copies.set(id, copy);
    this.#answers.wake();
  }

  /** Resolves with the next answer, or after `waitMs`. */
  async changed(waitMs: number): Promise<void> {
    await withTimeout(this.clock, waitMs, "the next answer", () => this.#answers.wait()).catch(() => {});
  }
}

export class WriteBack {
  #fragments: readonly Fragment[];
  #fault: FencelineError | undefined;

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
    let todo: readonly EntryHolders[] = entries.map((entry) => new EntryHolders(this.ports.clock, entry));
    let hasHaste = true;
    while (true) {
      await Promise.all(todo.map((held) => this.#writeOut(held, unfit, hasHaste)));
      const open = todo.findIndex((held) => !this.#isHeld(held));
      todo = todo.slice(open < 0 ? todo.length : open);
      const first = todo[0];
      if (first === undefined) return;
      const late = this.#late(todo);
      if (late.size > 0) hasHaste = false; // WB2
      const answer = this.#replace(first, new Set([...unfit, ...late]));
      if (answer.kind === "refused" && late.size === 0) throw this.#cannotBeHeld(first, answer.reason);
    }
  }

  /**
   * Resolves when an ACK set holds the entry, when every bookie of its write set has answered or failed, and
   * in haste as soon as only those are missing that have kept it waiting.
   */
  async #writeOut(held: EntryHolders, unfit: Set<BookieId>, hasHaste: boolean): Promise<void> {
    const set = this.#writeSet(held.entry);
    for (const bookie of set) {
      if (held.copyAt(bookie) === undefined && !unfit.has(bookie.id)) void this.#writeTo(held, bookie, unfit);
    }
    while (!this.#isHeld(held)) {
      const missing = set.filter((bookie) => held.copyAt(bookie) === "asked");
      const waitMs = hasHaste ? this.#patienceMs(held, missing) : CALL_MS_MAX;
      // Adding up fractions of a ms can leave the clock short of what was waited for, for ever.
      if (missing.length === 0 || waitMs < 1) break;
      await held.changed(waitMs);
    }
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** How much longer those that are missing may take: no longer, if they were silent before. */
  #patienceMs(held: EntryHolders, missing: readonly BookieAddress[]): number {
    if (missing.every(({ id }) => this.ports.health.of(id).isSilent)) return 0;
    const { heldForMs } = held;
    return heldForMs === undefined ? CALL_MS_MAX : limits.writeBackPatienceMs - heldForMs;
  }

  /** Whose answers are missing where they are needed. They have kept recovery waiting. */
  #late(todo: readonly EntryHolders[]): Set<BookieId> {
    const open = todo.filter((held) => !this.#isHeld(held));
    const late = open.flatMap((held) =>
      this.#writeSet(held.entry).filter((bookie) => held.copyAt(bookie) === "asked"),
    );
    for (const { id } of late) this.ports.health.of(id).keptWaiting();
    return new Set(late.map(({ id }) => id));
  }

  /** Never rejects. */
  async #writeTo(held: EntryHolders, bookie: BookieAddress, unfit: Set<BookieId>): Promise<void> {
    const { ledgerId, entryId } = held.entry.header;
    held.asked(bookie);
    const what = `recovery add ${entryId}`;
    const answer = await callBookie(this.ports, { ledgerId, bookie, what }, (port) =>
      port.recoveryAdd(held.entry),
    );
    if (answer.kind === "ok") return held.answered(bookie, "held");
    if (answer.kind === "conflict" && isGenuine(this.ports.digest, this.ledger, answer.occupant, entryId)) {
      this.#fault ??= new FencelineError("data_corrupt", {
        message: `ledger ${ledgerId}: ${bookie.id} holds another entry ${entryId}: two writers at once`,
        retryable: false,
      });
    }
    // A damaged Original is never replaced (rule 4); its bookie cannot hold this entry, another one can.
    if (answer.kind === "conflict") {
      this.ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId, bookie: bookie.id });
    }
    const damaged: BookieOutcome = { kind: "answered", said: "has a damaged copy" };
    unfit.add(bookie.id);
    held.answered(bookie, answer.kind === "conflict" ? damaged : answer);
  }

  #isHeld(held: EntryHolders): boolean {
    const holders = this.#writeSet(held.entry).filter((bookie) => held.copyAt(bookie) === "held");
    return isAckSet(holders, this.ledger.replication);
  }

  /** A local fragment from `first` on, which is not held yet; the entries before it stay where they are. */
  #replace(first: EntryHolders, unfit: ReadonlySet<BookieId>): PlacementAnswer {
    const fragment = this.#fragments.at(-1) ?? lastFragment(this.ledger);
    const answer = this.#choose(fragment, positionsOf(fragment, unfit), unfit);
    if (answer.kind === "refused") return answer;
    const firstEntry = first.entry.header.entryId;
    this.#fragments = withFragment(this.#fragments, { firstEntry, ensemble: answer.ensemble });
    return answer;
  }

  #choose(fragment: Fragment, positions: readonly number[], unfit: ReadonlySet<BookieId>): PlacementAnswer {
    if (positions.length === 0)
      return { kind: "refused", reason: "its ensemble cannot form an ACK set at all" };
    const request = (chosen: readonly number[]) =>
      chooseReplacements(this.ports, this.ledger, { fragment, positions: chosen, unfit });
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

  #cannotBeHeld(held: EntryHolders, reason: string): FencelineError {
    const { ledgerId, entryId } = held.entry.header;
    const verdicts = this.#writeSet(held.entry).map((bookie) => {
      const copy = held.copyAt(bookie);
      if (copy === "held") return verdictOf(bookie, { kind: "answered", said: "stored it" });
      const elsewhere = { kind: "unknown", reason: "failed on another entry" } as const;
      return verdictOf(bookie, copy === undefined || copy === "asked" ? elsewhere : copy);
    });
    const what = `ledger ${ledgerId}: entry ${entryId} cannot be written back: ${reason}`;
    return insufficientRegions(what, verdicts, "possible");
  }
}
