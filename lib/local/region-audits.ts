/**
 * The auditor of one region on its schedule, as a timer would invoke its function: one pass at a time, the
 * next one a period after the last has ended, none while the region is down.
 */

import type { Clock, Timer } from "../protocol/deadline.ts";
import type { LogAppends } from "../protocol/log/log-appends.ts";
import type { Auditor } from "../protocol/log/upkeep/audit.ts";
import type { RegionSwitch } from "./region-switch.ts";

interface RegionAuditsFields {
  readonly region: RegionSwitch;
  readonly clock: Clock;
  readonly periodMs: number;
  /** The functions of the moment. */
  readonly functions: () => { readonly append: LogAppends; readonly auditor: Auditor };
}

export const AUDIT_PERIOD_MS = 30_000;
/** An append function that is not called any more releases its leases, as one does before it is frozen. */
const IDLE_MS = 5_000;

export class RegionAudits {
  #timer: Timer | undefined;
  #isOver = false;

  constructor(private readonly fields: RegionAuditsFields) {
    this.#wait();
  }

  /** A pass that is under way ends by itself: what it does is safe without anybody who waits for it. */
  close(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #wait(): void {
    if (this.#isOver) return;
    this.#timer = this.fields.clock.startTimer(this.fields.periodMs, () => {
      void this.#pass().then(() => this.#wait());
    });
  }

  async #pass(): Promise<void> {
    const { region, functions } = this.fields;
    if (!region.isUp) return;
    const { append, auditor } = functions();
    try {
      await append.releaseIdle(IDLE_MS);
      await auditor.pass();
    } catch {
      // The region was lost meanwhile; the next pass looks again.
    }
  }
}
