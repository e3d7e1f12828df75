/**
 * Assertions stay on in production: a broken invariant must stop the process before it can acknowledge
 * anything. An AssertionError is a programmer's error and is never caught by the protocol; to a caller
 * elsewhere it looks like any crash, that is, an unknown outcome.
 */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** States what must hold; `message` cites the numbered invariant or rule where there is one. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Marks a branch that the types rule out. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`);
}

/** Returns `value`, which the caller knows to exist. */
export function present<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new AssertionError(message);
  return value;
}
