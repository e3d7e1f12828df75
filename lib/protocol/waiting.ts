/** Waiting on the clock port: bounded calls and pauses. */
import { unavailable } from "./errors.ts";
import type { Clock } from "./ports.ts";
import type { CallSignal } from "./reads/call-abort.ts";

/** Resolves after `delayMs`. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.startTimer(delayMs, resolve);
  });
}

/**
 * Settles as `call` does, or rejects as `unavailable` after `timeoutMs`; its effect may then still happen at
 * any later time. A late answer is dropped. `signal`: nobody waits any more, and
 * no timer is left behind.
 */
export function within<T>(
  clock: Clock,
  timeoutMs: number,
  what: string,
  call: () => Promise<T>,
  signal?: CallSignal,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.startTimer(timeoutMs, () =>
      reject(unavailable(`${what}: no answer in ${timeoutMs} ms`)),
    );
    signal?.onAbort(() => {
      timer.cancel();
      reject(unavailable(`${what}: nobody waits for it any more`));
    });
    started(call).then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}

/** A call that throws at once rejects like one that fails later. */
async function started<T>(call: () => Promise<T>): Promise<T> {
  return await call();
}
