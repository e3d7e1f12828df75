/**
 * What a store keeps beside an item or a lease: its version; and the bytes of both together, for stores
 * that keep bytes. UTF-8 JSON: `{format, revision, token, value}`.
 */
import { writeToken } from "../protocol/ids.ts";
import type { Version } from "../protocol/items.ts";
import { type JsonFields, type JsonObject, type JsonValue, readBytes } from "./json-fields.ts";
import { textBytes } from "./utf8-text.ts";

const VERSIONED_FORMAT = 1;

interface VersionedJson {
  readonly version: Version;
  readonly value: unknown;
}

export function encodeVersion(version: Version): JsonObject {
  return { revision: version.revision, token: version.token };
}

export function decodeVersion(fields: JsonFields): Version {
  return { revision: fields.integer("revision", 1), token: writeToken(fields.text("token")) };
}

export function encodeVersioned(version: Version, value: JsonValue): Uint8Array {
  const json = JSON.stringify({ format: VERSIONED_FORMAT, ...encodeVersion(version), value });
  return textBytes(json);
}

/** The value itself is left to its own format. */
export function decodeVersioned(bytes: Uint8Array): VersionedJson {
  return readBytes("a versioned value", bytes, (fields) => {
    fields.format(VERSIONED_FORMAT);
    return { version: decodeVersion(fields), value: fields.json("value") };
  });
}
