/**
 * How much one region works on at a time, so that no client takes it away from the others. Health waits for
 * none of it, nor does what describes the surface.
 *
 * RGW1 What is beyond a bound is refused at once, with `over_capacity`, and nothing was done.
 * RGW2 Reads are begun in the order of their arrival. One whose caller left while it waited is not begun.
 * RGW3 The bytes of bodies count as they are read, until their request is answered. The first ones of each do
 *      not, so that appends of a usual size do not wait for uploads of large ones, nor does what a slow
 *      upload has only announced.
 */
import type { MiddlewareHandler } from "hono";
import { FencelineError } from "../protocol/errors.ts";
import { aborted } from "../protocol/waiting.ts";
import type { ApiEnv } from "./api-env.ts";
import { bodyPace, type OnBytes, watchBody } from "./request-body.ts";

const KIB = 1024;

/** Of one region. The documents state them, too. */
export const workLimits = {
  /** Each holds a page of 1 MiB in several forms, and what is fetched ahead of it. */
  readsMax: 16,
  readsWaitingMax: 128,
  /** Appends and changes under way: what waits for a log's turn is among them. */
  writesMax: 1_000,
  largeBodyBytesMax: 64 * KIB * KIB,
} as const;

/** Paths whose answers are at hand. */
const UNBOUNDED = new Set(["/v1/health", "/v1/openapi.json"]);

export class RegionWork {
  #reads = 0;
  /** Each is called when it may begin. */
  readonly #waiting = new Set<() => void>();
  #writes = 0;
  #largeBodyBytes = 0;

  /** RGW2. Throws `over_capacity`, and `unavailable` if the caller left. */
  async read<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#reads >= workLimits.readsMax) await this.#turn(signal);
    else this.#reads += 1;
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#reads -= 1;
      else next(); // It takes this one's place.
    }
  }

  /** RGW3. Throws `over_capacity`. */
  async write<T>(work: (onBytes: OnBytes) => Promise<T>): Promise<T> {
    if (this.#writes >= workLimits.writesMax) throw tooMuch(`${workLimits.writesMax} appends and changes`);
    this.#writes += 1;
    let counted = 0;
    try {
      return await work((bytes) => {
        const large = Math.max(0, bytes - bodyPace.smallBytes);
        if (this.#largeBodyBytes + large - counted > workLimits.largeBodyBytesMax) {
          throw tooMuch(`${workLimits.largeBodyBytesMax} bytes of bodies over ${bodyPace.smallBytes} bytes`);
        }
        this.#largeBodyBytes += large - counted;
        counted = large;
      });
    } finally {
      this.#writes -= 1;
      this.#largeBodyBytes -= counted;
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= workLimits.readsWaitingMax) {
      throw tooMuch(`${workLimits.readsMax} reads, and as many wait as may`);
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(begin);
        reject(aborted("read"));
      };
      const begin = () => {
        this.#waiting.delete(begin);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(begin);
    });
  }
}

function tooMuch(what: string): FencelineError {
  return new FencelineError("over_capacity", {
    message: `this region works on ${what} at a time, and nothing was done; come back a little later`,
  });
}

/** Of requests to routes, within the bounds of `work`; absent: as many as come. */
export function boundWork(work: RegionWork | undefined): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { method, path, raw } = c.req;
    if (work === undefined || UNBOUNDED.has(path) || method === "OPTIONS") return await next();
    if (method === "GET" || method === "HEAD") return await work.read(raw.signal, next);
    return await work.write((onBytes) => {
      watchBody(raw, onBytes);
      return next();
    });
  };
}
