/**
 * A bookie with a few places to serve reads and a queue before them, in virtual time. A cancelled read leaves
 * the queue; one that is being served is served to its end. A dead bookie swallows what it is sent.
 */
import type { Scheduler } from "../../sim/scheduler.ts";

export interface QueuedRead {
  readonly answer: () => void;
  isCancelled: boolean;
}

export interface QueueingBookieSetting {
  readonly scheduler: Scheduler;
  readonly places: number;
  /** Draws one service time in ms. */
  readonly serviceMs: () => number;
  /** One way between client and bookie, in ms. */
  readonly travelMs: number;
}

export class QueueingBookie {
  isDead = false;
  readonly #queue: QueuedRead[] = [];
  #serving = 0;

  constructor(private readonly setting: QueueingBookieSetting) {}

  /** Sends a read; `answer` is called when its answer has arrived. */
  read(answer: () => void): QueuedRead {
    const read = { answer, isCancelled: false };
    this.setting.scheduler.after(this.setting.travelMs, () => {
      this.#queue.push(read);
      this.#serve();
    });
    return read;
  }

  #serve(): void {
    while (!this.isDead && this.#serving < this.setting.places) {
      const read = this.#queue.shift();
      if (read === undefined) return;
      if (read.isCancelled) continue;
      this.#serving += 1;
      this.setting.scheduler.after(this.setting.serviceMs(), () => this.#served(read));
    }
  }

  #served(read: QueuedRead): void {
    this.#serving -= 1;
    this.#serve();
    if (this.isDead) return;
    this.setting.scheduler.after(this.setting.travelMs, () => {
      if (!read.isCancelled) read.answer();
    });
  }
}
