/** Calls that nobody may wait for any more: the SDK's request is ended, and the caller let go at once. */
import { aborted, type CallSignal, throwIfAborted } from "../../protocol/waiting.ts";

/** Rejects as soon as the signal says so; what the request did until then stands. */
export function abortableCall<T>(
  signal: CallSignal | undefined,
  what: string,
  call: (options: { readonly abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return call({});
  return new Promise<T>((resolve, reject) => {
    throwIfAborted(signal, what);
    const controller = new AbortController();
    signal.onAbort(() => {
      reject(aborted(what));
      controller.abort();
    });
    call({ abortSignal: controller.signal }).then(resolve, reject);
  });
}
