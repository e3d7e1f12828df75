/**
 * Virtual time. Events fire in the order (time, number), one at a time; between two of them every promise
 * reaction has run, so time moves only when nothing else can.
 *
 * How the reactions are drained: an event is fired from a `process.nextTick` callback, and the next one is
 * asked for by a nextTick that a promise reaction schedules. Node empties the whole reaction queue before it
 * looks at the next tick, whatever the reactions add to it.
 */

export interface ScheduledEvent {
  readonly atMs: number;
  readonly number: number;
  /** Undefined once cancelled. */
  fire: (() => void) | undefined;
}

/** Raised while simulated code runs. */
export interface Guard {
  raise(): void;
  lower(): void;
}

const NO_GUARD: Guard = { raise: () => undefined, lower: () => undefined };

/** Taken before any tripwire replaces the globals. */
const realImmediate = setImmediate;
const nextTick = process.nextTick;
const settled = Promise.resolve();

/** Events after which the driver lets the host's own event loop turn once. */
const EVENTS_PER_TURN = 20_000;

export class Scheduler {
  /** Virtual ms since the start of the run. */
  nowMs = 0;
  /** Events fired so far. */
  events = 0;
  readonly #heap: ScheduledEvent[] = [];
  #numbered = 0;

  /** Fires once at `atMs`; a time in the past counts as now. */
  at(atMs: number, fire: () => void): ScheduledEvent {
    const event = { atMs: Math.max(atMs, this.nowMs), number: this.#numbered++, fire };
    push(this.#heap, event);
    return event;
  }

  after(delayMs: number, fire: () => void): ScheduledEvent {
    return this.at(this.nowMs + delayMs, fire);
  }

  cancel(event: ScheduledEvent): void {
    event.fire = undefined;
  }

  /**
   * Fires events until none is left, `until` says so, or one throws. The guard is up while events and their
   * reactions run, and down while the host's event loop turns.
   */
  run(until: () => boolean, guard: Guard = NO_GUARD): Promise<void> {
    return new Promise((resolve, reject) => {
      let left = EVENTS_PER_TURN;
      const end = (act: () => void) => {
        guard.lower();
        act();
      };
      const step = () => {
        try {
          const event = until() ? undefined : this.#next();
          if (event === undefined) return end(resolve);
          event.fire?.();
        } catch (error) {
          return end(() => reject(error));
        }
        settled.then(drained);
      };
      const drained = () => nextTick(--left > 0 ? step : turn);
      const turn = () => {
        left = EVENTS_PER_TURN;
        guard.lower();
        realImmediate(start);
      };
      const start = () => {
        guard.raise();
        nextTick(step);
      };
      start();
    });
  }

  #next(): ScheduledEvent | undefined {
    for (;;) {
      const event = pop(this.#heap);
      if (event === undefined) return undefined;
      if (event.fire === undefined) continue;
      this.nowMs = event.atMs;
      this.events++;
      return event;
    }
  }
}

const before = (one: ScheduledEvent, other: ScheduledEvent): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.number < other.number);

function push(heap: ScheduledEvent[], event: ScheduledEvent): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent] as ScheduledEvent;
    if (before(above, event)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: ScheduledEvent[]): ScheduledEvent | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  const size = heap.length;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= size) break;
    if (child + 1 < size && before(heap[child + 1] as ScheduledEvent, heap[child] as ScheduledEvent)) child++;
    const below = heap[child] as ScheduledEvent;
    if (before(last, below)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
  return top;
}
