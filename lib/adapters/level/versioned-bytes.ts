/** What the versioned stores share: the conditional write as a decision on stored bytes. */
import type { JsonObject } from "../../formats/json-fields.ts";
import { decodeVersioned, encodeVersioned } from "../../formats/version-format.ts";
import type { WriteToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";
import type { WriteAnswer } from "../../protocol/ports.ts";
import type { Decide } from "./synced-batches.ts";

/** Writes `value` if the stored version is `expected`. Revisions start at 1 again after a removal. */
export function conditionalWrite(
  expected: Version | "absent",
  value: JsonObject,
  token: WriteToken,
): Decide<WriteAnswer> {
  return (current) => {
    const stored = versionOf(current);
    if (!matches(stored, expected)) return { change: { kind: "keep" }, answer: { kind: "conflict" } };
    const version = { revision: (stored?.revision ?? 0) + 1, token };
    return {
      change: { kind: "put", value: encodeVersioned(version, value) },
      answer: { kind: "written", version },
    };
  };
}

export function conditionalRemoval(expected: Version): Decide<{ readonly kind: "removed" | "conflict" }> {
  return (current) =>
    matches(versionOf(current), expected)
      ? { change: { kind: "delete" }, answer: { kind: "removed" } }
      : { change: { kind: "keep" }, answer: { kind: "conflict" } };
}

function versionOf(bytes: Uint8Array | undefined): Version | undefined {
  return bytes === undefined ? undefined : decodeVersioned(bytes).version;
}

/** Both parts of a version count. */
function matches(stored: Version | undefined, expected: Version | "absent"): boolean {
  if (stored === undefined || expected === "absent") return stored === undefined && expected === "absent";
  return stored.revision === expected.revision && stored.token === expected.token;
}
