/**
 * What a store keeps beside an item or a lease: its version; and the bytes of both together, for stores
 * that keep bytes. UTF-8 JSON: `{format, revision, token, value}`.
 */
import { writeToken } from "../protocol/ids.ts";
import type { Version } from "../protocol/items.ts";
import { damaged, unknownFormat } from "./format-errors.ts";
import { type JsonFields, type JsonObject, type JsonValue, readObject } from "./json-fields.ts";
import { readText, textBytes } from "./utf8-text.ts";

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
  return readObject("a versioned value", parsed(bytes), (fields) => {
    const format = fields.integer("format", 1);
    if (format !== VERSIONED_FORMAT) throw unknownFormat("a versioned value", format, VERSIONED_FORMAT);
    return { version: decodeVersion(fields), value: fields.json("value") };
  });
}

function parsed(bytes: Uint8Array): unknown {
  const text = readText(bytes, "a versioned value");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damaged("a versioned value", "it is not JSON", error);
  }
}
