/**
 * Whether a region is there. Every call into a region passes its switch, so that a region can be lost while
 * the process that plays all of them goes on.
 *
 * RX1 A call that began takes its whole effect. If the region went down meanwhile, its reply is lost.
 * RX2 Refusing: calls reject at once, those in flight too. Hanging: calls stay silent until the region is up
 *     again, and then reject; their callers were cut off long ago.
 * RX3 A call that began while the region was down has no effect. Only a refusal says so.
 */

import { type SideEffects, unavailable } from "../protocol/errors.ts";
import type { Region } from "../protocol/ids.ts";
import { aborted, type CallSignal } from "../protocol/waiting.ts";

/** How a lost region looks from outside. */
export type Manner = "refusing" | "hanging";

/**
 * Runs a call through whatever lies between caller and callee. A call that its caller aborts ends at once,
 * wherever it waits.
 */
export type Gate = <T>(what: string, call: () => Promise<T>, signal?: CallSignal) => Promise<T>;

export class RegionSwitch {
  readonly region: Region;
  #down: Manner | undefined;
  #losses = 0;
  readonly #inFlight = new Set<() => void>();
  readonly #waiting = new Set<() => void>();

  /** `name` is what refusals call it. */
  constructor(
    region: Region,
    private readonly name = `region ${region}`,
  ) {
    this.region = region;
  }

  get isUp(): boolean {
    return this.#down === undefined;
  }

  /** How the region is down; undefined if it is up. */
  get manner(): Manner | undefined {
    return this.#down;
  }

  /** How often the region was lost. What began under another number is gone for good. */
  get losses(): number {
    return this.#losses;
  }

  /** Loses the region, or changes the manner in which it is lost. */
  down(manner: Manner): void {
    if (this.isUp) this.#losses += 1;
    this.#down = manner;
    for (const lose of [...this.#inFlight]) lose();
    this.#inFlight.clear();
    this.#wake();
  }

  up(): void {
    this.#down = undefined;
    this.#wake();
  }

  /** Calls that are under way or kept waiting. */
  get callsHeld(): number {
    return this.#inFlight.size + this.#waiting.size;
  }

  readonly call: Gate = <T>(what: string, call: () => Promise<T>, signal?: CallSignal): Promise<T> => {
    if (!this.isUp) return this.#silence(what, "none", signal);
    return new Promise<T>((resolve, reject) => {
      const lose = () => resolve(this.#silence(what, "possible", signal));
      this.#inFlight.add(lose);
      const deliver = (answer: () => void) => {
        if (this.#inFlight.delete(lose)) answer();
      };
      signal?.onAbort(() => deliver(() => reject(aborted(what))));
      started(call).then(
        (value) => deliver(() => resolve(value)),
        (error) => deliver(() => reject(error)),
      );
    });
  };

  async #silence(what: string, sideEffects: SideEffects, signal?: CallSignal): Promise<never> {
    if (this.#down !== "hanging") {
      throw unavailable(`${what}: ${this.name} refuses, it is down`, sideEffects);
    }
    while (this.#down === "hanging") await this.#untilWoken(what, signal);
    throw unavailable(`${what}: ${this.name} was down and never answered`, "possible");
  }

  #untilWoken(what: string, signal?: CallSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting.add(resolve);
      signal?.onAbort(() => {
        if (this.#waiting.delete(resolve)) reject(aborted(what));
      });
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

/** A call that throws at once rejects like one that fails later. */
async function started<T>(call: () => Promise<T>): Promise<T> {
  return await call();
}
