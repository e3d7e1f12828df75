/** What the memory stores share: a deeply frozen value with its version, and the conditional write. */
import type { WriteToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";

export interface Cell<T> {
  readonly value: T;
  readonly version: Version;
}

/** Whether `expected` is what is there now; both parts of a version count. */
export function matches(current: Cell<unknown> | undefined, expected: Version | "absent"): boolean {
  if (current === undefined || expected === "absent") return current === undefined && expected === "absent";
  return current.version.revision === expected.revision && current.version.token === expected.token;
}

/**
 * The cell that follows `current`. Revisions start at 1 again when an item is made anew, as a store without
 * memory of removed items has it: only the token then distinguishes the two.
 */
export function nextCell<T>(current: Cell<T> | undefined, value: T, token: WriteToken): Cell<T> {
  return deepFreeze({ value, version: { revision: (current?.version.revision ?? 0) + 1, token } });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
