/** The clock port in virtual time. */
import type { Clock, Timer } from "../../../lib/protocol/deadline.ts";
import type { Scheduler } from "../../sim/scheduler.ts";

export class VirtualClock implements Clock {
  /** Timers that neither fired nor were cancelled. */
  pendingTimers = 0;

  constructor(private readonly scheduler: Scheduler) {}

  nowMs(): number {
    return this.scheduler.nowMs;
  }

  monotonicMs(): number {
    return this.scheduler.nowMs;
  }

  startTimer(delayMs: number, fire: () => void): Timer {
    let isPending = true;
    this.pendingTimers += 1;
    const end = () => {
      if (isPending) this.pendingTimers -= 1;
      isPending = false;
    };
    const event = this.scheduler.after(delayMs, () => {
      end();
      fire();
    });
    const cancel = () => {
      end();
      this.scheduler.cancel(event);
    };
    return { cancel };
  }
}
