/**
 * The way from one process to something that serves it, and back. Each call is a request that arrives, is
 * served, and a reply that arrives: three moments at which faults strike, with other events in between.
 * Reordering needs no fault of its own; delays differ.
 */
import { unavailable } from "../../lib/protocol/errors.ts";
import type { EdgeFaults, Faults } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** Usual time of one way, and how often and how far it is exceeded. */
export interface Delay {
  readonly usualMs: number;
  readonly tailProbability: number;
  readonly tailMs: number;
}

/** What paths share in one run. */
export interface Wires {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  /** From here on no delay is much longer than usual. */
  readonly calmMs: number;
  /** Network and store steps so far: a message that arrived, or a store operation that took effect. */
  steps: number;
}

export interface Reply<T> {
  answer(value: T): void;
  fail(error: unknown): void;
}

/** How the server takes this request: whether it acts, and what it says instead of an answer. */
export interface Service {
  readonly effect: boolean;
  readonly failure: Error | undefined;
  /** Age of the state that a stale read sees; 0 for the present. */
  readonly staleMs: number;
}

const SERVED: Service = { effect: true, failure: undefined, staleMs: 0 };

export class MessagePath {
  constructor(
    private readonly wires: Wires,
    private readonly caller: SimulatedProcess,
    private readonly edge: EdgeFaults,
    private readonly delay: Delay,
    private readonly random: SeededRandom,
  ) {}

  /** Sends a request; `serve` runs when it arrives, once for each copy that arrives. */
  call<T>(serve: (service: Service, reply: Reply<T>) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const reply: Reply<T> = {
        answer: (value) => this.#sendBack(() => resolve(value)),
        fail: (error) => this.#sendBack(() => reject(error)),
      };
      this.#send(
        () => this.#arrive(serve, reply),
        (error) => this.#after(0, () => this.caller.enter(() => reject(error))),
      );
    });
  }

  #send(arrive: () => void, refuse: (error: Error) => void): void {
    const { scheduler, faults } = this.wires;
    let extraMs = 0;
    let copies = 1;
    for (const fault of this.edge.request) {
      if (!faults.strikes(fault, scheduler.nowMs, this.random)) continue;
      if (fault.kind === "request-late") extraMs += this.#drawn(fault.delayMs);
      else if (fault.kind === "request-duplicated") copies++;
      else {
        const refused = fault.kind === "request-refused" || fault.kind === "region-refusing";
        if (refused) refuse(unavailable("connection refused", "none"));
        return;
      }
    }
    this.#after(extraMs, arrive);
    for (let copy = 1; copy < copies; copy++) this.#after(this.random.logBetween(1, 5_000), arrive);
  }

  #arrive<T>(serve: (service: Service, reply: Reply<T>) => void, reply: Reply<T>): void {
    this.wires.steps++;
    let service = SERVED;
    for (const fault of this.edge.serve) {
      if (!this.wires.faults.strikes(fault, this.wires.scheduler.nowMs, this.random)) continue;
      if (fault.kind === "stale") service = { ...service, staleMs: this.#drawn(fault.delayMs) };
      else if (fault.kind === "failed-after") {
        service = { ...service, failure: unavailable("internal error", "possible") };
      } else {
        const sideEffects = fault.kind === "throttled" ? "none" : "possible";
        service = { ...service, effect: false, failure: unavailable(fault.kind, sideEffects) };
        break;
      }
    }
    serve(service, reply);
  }

  #sendBack(arrive: () => void): void {
    const { scheduler, faults } = this.wires;
    let extraMs = 0;
    for (const fault of this.edge.reply) {
      if (!faults.strikes(fault, scheduler.nowMs, this.random)) continue;
      if (fault.kind === "reply-late") extraMs += this.#drawn(fault.delayMs);
      else return;
    }
    this.#after(extraMs, () => {
      this.wires.steps++;
      this.caller.enter(arrive);
    });
  }

  #after(extraMs: number, act: () => void): void {
    this.wires.scheduler.after(this.#oneWayMs() + extraMs, act);
  }

  #oneWayMs(): number {
    const { usualMs, tailProbability, tailMs } = this.delay;
    const usual = usualMs * (0.6 + 0.8 * this.random.unit());
    const isCalm = this.wires.scheduler.nowMs >= this.wires.calmMs;
    return !isCalm && this.random.chance(tailProbability) ? usual + this.random.logBetween(1, tailMs) : usual;
  }

  #drawn(range: readonly [number, number] | undefined): number {
    return range === undefined ? 0 : this.random.logBetween(range[0], range[1]);
  }
}
