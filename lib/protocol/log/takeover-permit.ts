/**
 * That a log may be taken over from the region that owns it. The evidence for it grows old, also while the
 * process that has it is frozen: what was silence an hour ago allows nothing.
 */
import type { Region } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Clock } from "../ports.ts";

export class TakeoverPermit {
  #given: { readonly from: Region; readonly untilMs: number } | undefined;

  constructor(
    private readonly clock: Clock,
    from?: Region,
  ) {
    this.give(from);
  }

  /** Undefined leaves it as it is. */
  give(from: Region | undefined): void {
    if (from === undefined) return;
    this.#given = { from, untilMs: this.clock.monotonicMs() + limits.appendDeadlineMs };
  }

  /** The region that the log may be taken over from now. */
  get from(): Region | undefined {
    const given = this.#given;
    return given !== undefined && this.clock.monotonicMs() < given.untilMs ? given.from : undefined;
  }

  drop(): void {
    this.#given = undefined;
  }
}
