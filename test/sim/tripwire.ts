/**
 * While simulated code runs, the real world is out of reach: real clocks, real randomness and real timers
 * throw. Code that needs time or luck has a port for it.
 */
import type { Guard } from "./scheduler.ts";

type Property = { readonly owner: object; readonly name: string; readonly forbidden: unknown };

const forbid = (what: string) => () => {
  throw new Error(`${what} was used inside a simulated run; use the Clock or Random port`);
};

const RealDate = Date;

/** `new Date(ms)` only computes and stays; `new Date()` asks the real clock and throws. */
const SimulatedDate = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    args.length === 0 ? forbid("new Date()")() : Reflect.construct(target, args, newTarget),
  apply: forbid("Date()"),
  get: (target, name, receiver) =>
    name === "now" ? forbid("Date.now") : Reflect.get(target, name, receiver),
});

const forbiddenHrtime = Object.assign(forbid("process.hrtime"), { bigint: forbid("process.hrtime.bigint") });

const properties: readonly Property[] = [
  { owner: globalThis, name: "Date", forbidden: SimulatedDate },
  { owner: RealDate, name: "now", forbidden: forbid("Date.now") },
  { owner: Math, name: "random", forbidden: forbid("Math.random") },
  { owner: performance, name: "now", forbidden: forbid("performance.now") },
  { owner: process, name: "hrtime", forbidden: forbiddenHrtime },
  { owner: AbortSignal, name: "timeout", forbidden: forbid("AbortSignal.timeout") },
  { owner: globalThis.crypto, name: "getRandomValues", forbidden: forbid("crypto.getRandomValues") },
  { owner: globalThis.crypto, name: "randomUUID", forbidden: forbid("crypto.randomUUID") },
  ...["setTimeout", "setInterval", "setImmediate"].map((name) => ({
    owner: globalThis,
    name,
    forbidden: forbid(name),
  })),
];

/** Replaces the globals while raised and puts back exactly what was there. */
export class Tripwire implements Guard {
  #restore: (() => void)[] = [];

  raise(): void {
    if (this.#restore.length > 0) return;
    for (const { owner, name, forbidden } of properties) {
      const found = Object.getOwnPropertyDescriptor(owner, name);
      Object.defineProperty(owner, name, { value: forbidden, configurable: true, writable: true });
      this.#restore.push(() => {
        if (found === undefined) Reflect.deleteProperty(owner, name);
        else Object.defineProperty(owner, name, found);
      });
    }
  }

  lower(): void {
    for (const restore of this.#restore.reverse()) restore();
    this.#restore = [];
  }
}
