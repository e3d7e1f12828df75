/**
 * Which region owns which log, as far as this process knows, and which regions count as silent. Regions are
 * observed, not logs. The region's processes count together, in one item of their lease table for each region
 * that they observe: a function that serves one request and is gone adds to what the next one finds.
 *
 * OF1 A region is silent after `ownerFailuresMin` failures over `ownerSilenceMs` without an answer between
 *     them to any process, the last of them under `ownerFailureGapMaxMs` ago. Any answer counts, a refusal
 *     too. One of the failures is this process's own, as lately by both its clocks: what others counted makes
 *     its first failure enough, and what was counted before it froze is nothing to it.
 * OF2 A failure is a question of its own that stayed without an answer: it costs the owner nothing, and no
 *     log's trouble is in it. A failed append makes its region doubtful, so that the region is asked. A
 *     question that was sent before the last answer, or before the asker froze, proves nothing; neither does
 *     one that this region may not ask.
 * OF3 A failure is counted once, although its write lost its reply: it has a name in the item. Once the item
 *     says silent it is written again only to stay fresh, after `ownerSilenceMs`; otherwise all processes
 *     would write one item for as long as an outage lasts.
 * OF4 An answer removes what was counted. A process looks for that at most once in `ownerSilenceMs`, and at
 *     once behind a failure of its own, so that a warm append costs nothing.
 * OF5 Times in items are wall times of several processes. A wrong clock can hasten or delay a takeover, and
 *     nothing else; an item from the future, or one that is old, counts as none.
 * OF6 An owner is left alone for a while after this process first saw it as the owner of the log, so that two
 *     regions that cannot reach each other do not fence each other in turn.
 * OF7 A takeover that met a new segment of the owner was in vain: other regions hear the owner. The log is
 *     left to it for a time that grows with each takeover, counted in the log's lease. A takeover that
 *     succeeds counts too: an owner that takes the log back was alive, and an owner that is gone is not asked
 *     again. Without that, two regions that are cut from each other would have the log in turn for ever.
 * OF8 All of this decides which region tries. Fences and elections decide what is recorded. A count changes
 *     nothing that a lease's holder goes by (rule 16).
 */
import { BoundedMap } from "../../bounded-map.ts";
import { Age } from "../../deadline.ts";
import type { CallDenied } from "../../errors.ts";
import { type LogIncarnation, newWriteToken, type Region, type WriteToken } from "../../ids.ts";
import type { Version } from "../../items.ts";
import type { OwnerFailures } from "../../lease.ts";
import { limits } from "../../limits.ts";
import type { WriteAnswer } from "../../ports.ts";
import { withTimeout } from "../../waiting.ts";
import { contestWith, isLeftAlone } from "../lease/lease-steps.ts";
import type { LogPorts } from "../log-ports.ts";

/** What this process knows of a region. */
interface ObservedRegion {
  answers: number;
  /** The last answer, until something makes it doubtful. */
  heard?: Age;
  /** The last failure, until there is an answer (OF1). */
  failed?: Age;
  /** When the region's processes were last given an answer (OF4). */
  published?: Age;
  /** A question was denied after its asker had given it up: that ends the next question in its place. */
  denied?: { readonly error: CallDenied; readonly age: Age };
}

export class OwnerFailureDetector {
  /** Least recently used first. */
  readonly #owners = new BoundedMap<LogIncarnation, { readonly region: Region; readonly since: Age }>(
    limits.knownLogsMax,
  );
  readonly #observed = new Map<Region, ObservedRegion>();
  /** Writes that no append waits for. */
  readonly #publishing = new Set<Promise<void>>();

  constructor(private readonly ports: Pick<LogPorts, "clock" | "random" | "leases">) {}

  ownerOf(log: LogIncarnation): Region | undefined {
    return this.#owners.get(log)?.region;
  }

  noteOwner(log: LogIncarnation, region: Region | undefined): void {
    const known = this.#owners.get(log);
    if (region === undefined) this.#owners.delete(log);
    else
      this.#owners.set(log, known?.region === region ? known : { region, since: new Age(this.ports.clock) });
  }

  /** How many answers of the region this process got: a failure proves nothing if one came since (OF2). */
  answersOf(region: Region): number {
    return this.#of(region).answers;
  }

  /** Whether it answered so lately that it need not be asked before an append goes there. */
  wasHeard(region: Region): boolean {
    return this.#of(region).heard?.isWithin(limits.ownerHeardMs) === true;
  }

  noteAnswer(region: Region): void {
    const observed = this.#of(region);
    observed.answers += 1;
    observed.heard = new Age(this.ports.clock);
    delete observed.failed;
    if (!this.#shouldPublish(observed)) return;
    observed.published = observed.heard;
    this.#publish(this.#removeFailures(region));
  }

  /** It may be slow or gone: it is asked before an append goes there. */
  noteDoubt(region: Region): void {
    delete this.#of(region).heard;
  }

  /** One question stayed without an answer. Never throws. */
  async countFailure(region: Region): Promise<void> {
    const observed = this.#of(region);
    this.noteDoubt(region);
    delete observed.published;
    observed.failed = new Age(this.ports.clock);
    const failure = newWriteToken(this.ports.random);
    await this.#changeFailures(region, (before) => withFailure(before, failure, this.ports.clock.nowMs()));
  }

  /** A failure that was counted turned out to be this region's own fault: it may not ask. */
  noteDenied(region: Region, error: CallDenied): void {
    const observed = this.#of(region);
    observed.denied = { error, age: new Age(this.ports.clock) };
    delete observed.failed;
    this.#publish(this.#removeFailures(region));
  }

  /** Throws a late denial, once. */
  checkDenied(region: Region): void {
    const observed = this.#of(region);
    const { denied } = observed;
    delete observed.denied;
    if (denied?.age.isWithin(limits.ownerFailureGapMaxMs) === true) throw denied.error;
  }

  /** Whether silence allows a takeover of the log. A region without its lease table takes none over. */
  async isSilent(log: LogIncarnation, region: Region): Promise<boolean> {
    const owner = this.#owners.get(log);
    const { leases, clock } = this.ports;
    if (leases === undefined || owner?.region !== region) return false;
    if (owner.since.isWithin(limits.ownerGuardMs)) return false; // OF6
    if (this.#of(region).failed?.isWithin(limits.ownerFailureGapMaxMs) !== true) return false; // OF1
    try {
      const counted = await this.#inTime("read", () => leases.store.readFailures(region));
      if (!isSilence(counted?.failures, clock.nowMs())) return false;
      const found = await this.#inTime("read", () => leases.store.read(log));
      return !isLeftAlone(contestWith(found?.lease.contest, region), clock.nowMs());
    } catch {
      return false;
    }
  }

  /** A takeover of the log found its owner alive, since that has opened a segment meanwhile. Never throws. */
  async contested(log: LogIncarnation, region: Region): Promise<void> {
    this.#owners.set(log, { region, since: new Age(this.ports.clock) });
    await this.#removeFailures(region);
  }

  /**
   * Resolves once the region's other processes can know the answers so far: a function that stands still
   * after its request writes nothing more.
   */
  async flush(): Promise<void> {
    await Promise.all(this.#publishing);
  }

  #of(region: Region): ObservedRegion {
    const observed = this.#observed.get(region) ?? { answers: 0 };
    this.#observed.set(region, observed);
    return observed;
  }

  #shouldPublish({ published }: ObservedRegion): boolean {
    return published?.isWithin(limits.ownerSilenceMs) !== true;
  }

  /** No append waits for it; late, it delays a takeover. */
  #publish(writing: Promise<void>): void {
    const publishing = writing.finally(() => this.#publishing.delete(publishing));
    this.#publishing.add(publishing);
  }

  #removeFailures(region: Region): Promise<void> {
    return this.#changeFailures(region, (before) =>
      before === undefined || before.failures.length === 0 ? undefined : { ...before, failures: [] },
    );
  }

  async #changeFailures(
    region: Region,
    decide: (before: OwnerFailures | undefined) => OwnerFailures | undefined,
  ): Promise<void> {
    const { store } = this.ports.leases ?? {};
    if (store === undefined) return;
    await this.#change(
      async () => {
        const found = await store.readFailures(region);
        return found === undefined ? undefined : { value: found.failures, version: found.version };
      },
      (expected, failures, token) => store.writeFailures(region, expected, failures, token),
      decide,
    );
  }

  /**
   * Reads, changes and writes an item. Undefined of `decide`: nothing is left to write. A write without an
   * answer is looked at in the next round. Never throws.
   */
  async #change<T>(
    read: () => Promise<{ readonly value: T; readonly version: Version } | undefined>,
    write: (expected: Version | "absent", value: T, token: WriteToken) => Promise<WriteAnswer>,
    decide: (before: T | undefined) => T | undefined,
  ): Promise<void> {
    for (let round = 0; round < limits.leaseRoundsMax; round++) {
      const found = await this.#inTime("read", read).catch(() => "silent" as const);
      if (found === "silent") return;
      const value = decide(found?.value);
      if (value === undefined) return;
      const token = newWriteToken(this.ports.random);
      const writing = () => write(found?.version ?? "absent", value, token);
      const answer = await this.#inTime("write", writing).catch(() => undefined);
      if (answer?.kind === "written") return;
    }
  }

  #inTime<T>(what: string, call: () => Promise<T>): Promise<T> {
    return withTimeout(this.ports.clock, limits.leaseCallTimeoutMs, `lease table ${what}`, call);
  }
}

/** OF5 */
function isCurrent({ failures, lastAtMs }: OwnerFailures, nowMs: number): boolean {
  const sinceMs = nowMs - lastAtMs;
  return failures.length > 0 && sinceMs > -limits.leaseSkewMaxMs && sinceMs < limits.ownerFailureGapMaxMs;
}

const isEnough = ({ failures, firstAtMs, lastAtMs }: OwnerFailures): boolean =>
  failures.length >= limits.ownerFailuresMin && lastAtMs - firstAtMs >= limits.ownerSilenceMs;

/** OF1 */
const isSilence = (counted: OwnerFailures | undefined, nowMs: number): boolean =>
  counted !== undefined && isCurrent(counted, nowMs) && isEnough(counted);

/** Undefined: it need not be written (OF3). */
function withFailure(
  before: OwnerFailures | undefined,
  failure: WriteToken,
  nowMs: number,
): OwnerFailures | undefined {
  if (before === undefined || !isCurrent(before, nowMs)) {
    return { failures: [failure], firstAtMs: nowMs, lastAtMs: nowMs };
  }
  const { failures, firstAtMs, lastAtMs } = before;
  if (failures.includes(failure)) return undefined;
  if (failures.length < limits.ownerFailuresMin) {
    return { failures: [...failures, failure], firstAtMs, lastAtMs: Math.max(lastAtMs, nowMs) };
  }
  const saturatedAtMs = isEnough(before) ? lastAtMs : firstAtMs;
  return nowMs - saturatedAtMs < limits.ownerSilenceMs ? undefined : { ...before, lastAtMs: nowMs };
}
