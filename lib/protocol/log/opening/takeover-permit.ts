/**
 * That a log may be taken over from the region that owns it. The evidence for it grows old, also while the
 * process that has it is frozen: what was silence an hour ago allows nothing.
 */
import type { Clock } from "../../clock.ts";
import type { Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { isWithin, type Moment, momentNow } from "../../moment.ts";

export class TakeoverPermit {
  #given: { readonly from: Region; readonly at: Moment } | undefined;
  #used: unknown;

  constructor(
    private readonly clock: Clock,
    from?: Region,
  ) {
    this.give(from);
  }

  /** Undefined leaves it as it is. */
  give(from: Region | undefined): void {
    if (from !== undefined) this.#given = { from, at: momentNow(this.clock) };
  }

  /** An attempt begins: what was given until now is for it. */
  use(): void {
    this.#used = this.#given;
  }

  /** The region that the log may be taken over from now. Who asks makes use of it. */
  get from(): Region | undefined {
    this.use();
    const given = this.#given;
    if (given === undefined || !isWithin(this.clock, given.at, limits.appendDeadlineMs)) return undefined;
    return given.from;
  }

  /** An attempt is over. What was given in the middle of it is for the next one. */
  drop(): void {
    if (this.#given === this.#used) this.#given = undefined;
  }
}
