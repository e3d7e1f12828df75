/**
 * What questions came to that nobody waited for any more: they were denied, and that was taken for silence.
 * Such a denial ends the next question in its place, which would be given up as early.
 */
import type { Clock } from "../../clock.ts";
import type { CallDenied } from "../../errors.ts";
import type { Region } from "../../ids.ts";
import { limits } from "../../limits.ts";

export class LateDenials {
  readonly #denied = new Map<Region, { readonly error: CallDenied; readonly atMs: number }>();

  constructor(private readonly clock: Clock) {}

  note(region: Region, error: CallDenied): void {
    this.#denied.set(region, { error, atMs: this.clock.monotonicMs() });
  }

  /** Throws a denial of late, once. */
  check(region: Region): void {
    const late = this.#denied.get(region);
    this.#denied.delete(region);
    if (late === undefined) return;
    if (this.clock.monotonicMs() - late.atMs < limits.ownerFailureGapMaxMs) throw late.error;
  }
}
