/** Items, leases and versions as JSON: there and back, golden, and everything that is not one refused. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../lib/formats/json-fields.ts";
import {
  decodeLease,
  decodeOwnerFailures,
  encodeLease,
  encodeOwnerFailures,
} from "../../lib/formats/lease-format.ts";
import { decodeItem, encodeItem } from "../../lib/formats/metadata-item-format.ts";
import { decodeVersioned, encodeVersioned } from "../../lib/formats/version-format.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { writeToken } from "../../lib/protocol/ids.ts";
import { sampleFailures, sampleLease } from "../contracts/lease-store-contract.ts";
import { sampleItems, sampleLedger } from "../contracts/sample-items.ts";
import { Scope } from "../contracts/scope.ts";
import { anyItem, anyLease, anyOwnerFailures, anyVersion } from "./arbitraries.ts";

/** As stores hold them, items in the order of the samples. If the code changes these, the code is wrong. */
const golden: { items: JsonObject[]; lease: JsonObject; ownerFailures: JsonObject } = JSON.parse(
  readFileSync(new URL("./golden.json", import.meta.url), "utf8"),
);
const { items: goldenItems, lease: goldenLease, ownerFailures: goldenFailures } = golden;

/** What a store that keeps text gives back. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The error of a decoder that refuses, which must be one that a caller can act on. */
function refusal(decode: () => unknown): FencelineError {
  try {
    decode();
  } catch (error) {
    if (error instanceof FencelineError && error.code === "data_corrupt") return error;
    throw error;
  }
  throw new Error("damage was not refused");
}

/** `value` with one thing wrong, in each of the objects inside it in turn. */
function* damages(value: JsonObject): Generator<[what: string, damaged: unknown]> {
  for (const path of objectPaths(value)) {
    const at = (change: (object: Record<string, unknown>) => void) => {
      const copy = structuredClone(value);
      change(objectAt(copy, path));
      return copy;
    };
    const where = path.join(".");
    const set = (name: string, to: unknown) => at((object) => Object.assign(object, { [name]: to }));
    yield [`${where} has a field more`, set("zzz", 1)];
    for (const name of Object.keys(objectAt(value, path))) {
      yield [`${where}.${name} is null`, set(name, null)];
      yield [`${where}.${name} is -2.5`, set(name, -2.5)];
      yield [`${where}.${name} is a list of lists`, set(name, [[]])];
      if (!optional.has(name)) yield [`${where} lacks ${name}`, at((object) => delete object[name])];
    }
  }
}

function objectAt(value: unknown, path: readonly string[]): Record<string, unknown> {
  const [step, ...rest] = path;
  const object = value as Record<string, unknown>;
  return step === undefined ? object : objectAt(object[step], rest);
}

const optional = new Set([
  "origin",
  "completion",
  "homeRegion",
  "preferredRegion",
  "contest",
  "sweptAtMs",
  "birth",
  "floor",
]);
/** Times may be any number. */
const anyNumberIsFine = /(AtMs|UntilMs|TimestampMs) is -2\.5$/;

function objectPaths(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, part]) => objectPaths(part, [...path, name]));
  return Array.isArray(value) ? inner : [[...path], ...inner];
}

describe("metadata item format", () => {
  it("each kind of item is stored like this, for ever", () => {
    expect(sampleItems().map(encodeItem)).toEqual(goldenItems);
    expect(goldenItems.map(decodeItem)).toEqual(sampleItems());
  });

  it("any item comes back as it was, also through text", () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        expect(decodeItem(encodeItem(item))).toEqual(item);
        expect(decodeItem(stored(encodeItem(item)))).toEqual(item);
      }),
    );
  });

  it("the stored object shares nothing with the item", () => {
    const item = sampleLedger(2);
    const encoded = encodeItem(item);
    const before = stored(encoded);
    (item.fragments as unknown[]).pop();
    (item.retired as unknown[]).pop();
    expect(encoded).toEqual(before);
  });

  it("a field more, less or of another type is refused, in every object of every kind", () => {
    for (const golden of goldenItems) {
      for (const [what, damaged] of damages(golden)) {
        if (anyNumberIsFine.test(what)) continue;
        expect(() => refusal(() => decodeItem(damaged)), `${golden.kind} ${what}`).not.toThrow();
      }
    }
  });

  it("LM2, LM3 and quorum sizes out of order are refused", () => {
    const ledger = encodeItem(sampleLedger(2));
    const fragments = ledger.fragments as JsonObject[];
    const [first = {}, second = {}] = fragments;
    for (const [change, message] of [
      [{ fragments: [] }, /first fragment/],
      [{ fragments: [second] }, /first fragment/],
      [{ fragments: [first, first] }, /does not follow/],
      [{ fragments: [first, { ...second, ensemble: [] }] }, /0 bookies, not 4/],
      [{ lastEntry: 3, length: 4 }, /only/],
      [{ state: "CLOSED" }, /no lastEntry/],
      [{ replication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 5, minRegions: 2 } }, /ack quorum/],
      [{ replication: { ensembleSize: 3, writeQuorum: 4, ackQuorum: 3, minRegions: 2 } }, /ensemble size/],
    ] as const) {
      expect(refusal(() => decodeItem({ ...ledger, ...change })).message).toMatch(message);
    }
  });

  it("no object, an unknown kind and an unknown format are refused clearly", () => {
    for (const value of [undefined, null, "ledger", 7, [], [{}], {}]) refusal(() => decodeItem(value));
    expect(refusal(() => decodeItem({ kind: "ledgers", format: 1 })).message).toMatch(/ledgers/);
    expect(() => refusal(() => decodeItem({ kind: "toString", format: 1 }))).not.toThrow();
    for (const golden of goldenItems) {
      const error = refusal(() => decodeItem({ ...golden, format: 2 }));
      expect(error.message).toMatch(new RegExp(`kind ${golden.kind} has format 2.*reads format 1.*newer`));
      expect(error.retryable).toBe(false);
    }
  });
});

describe("lease format", () => {
  const lease = { ...sampleLease(new Scope()), tenure: goldenLease.tenure as never };

  it("a lease is stored like this, for ever", () => {
    expect(encodeLease(lease)).toEqual(goldenLease);
    expect(decodeLease(goldenLease)).toEqual(lease);
  });

  it("any lease comes back as it was, also through text", () => {
    fc.assert(
      fc.property(anyLease, (any) => {
        expect(decodeLease(stored(encodeLease(any)))).toEqual(any);
      }),
    );
  });

  it("a field more, less or of another type is refused, and an unknown format clearly", () => {
    for (const [what, damaged] of damages(goldenLease)) {
      if (anyNumberIsFine.test(what)) continue;
      expect(() => refusal(() => decodeLease(damaged)), what).not.toThrow();
    }
    expect(refusal(() => decodeLease({ ...goldenLease, format: 3 })).message).toMatch(
      /format 3.*reads format 1/,
    );
  });
});

describe("owner's failures format", () => {
  it("a count is stored like this, for ever", () => {
    const failures = sampleFailures("f0", "f1");
    expect(encodeOwnerFailures(failures)).toEqual(goldenFailures);
    expect(decodeOwnerFailures(goldenFailures)).toEqual(failures);
  });

  it("any count comes back as it was, also through text", () => {
    fc.assert(
      fc.property(anyOwnerFailures, (any) => {
        expect(decodeOwnerFailures(stored(encodeOwnerFailures(any)))).toEqual(any);
      }),
    );
  });

  it("a field more, less or of another type is refused, and an unknown format clearly", () => {
    for (const [what, damaged] of damages(goldenFailures)) {
      if (anyNumberIsFine.test(what)) continue;
      expect(() => refusal(() => decodeOwnerFailures(damaged)), what).not.toThrow();
    }
    expect(refusal(() => decodeOwnerFailures({ ...goldenFailures, format: 3 })).message).toMatch(
      /format 3.*reads format 1/,
    );
  });
});

describe("versioned value format", () => {
  const golden = '{"format":1,"revision":3,"token":"t0ken","value":{"a":[1,"é"]}}';

  it("the bytes are these, for ever", () => {
    const bytes = encodeVersioned({ revision: 3, token: writeToken("t0ken") }, { a: [1, "é"] });
    expect(Buffer.from(bytes).toString()).toBe(golden);
    expect(decodeVersioned(bytes)).toEqual({
      version: { revision: 3, token: "t0ken" },
      value: { a: [1, "é"] },
    });
  });

  it("any version comes back with its value", () => {
    fc.assert(
      fc.property(anyVersion, anyItem, (version, item) => {
        const { version: found, value } = decodeVersioned(encodeVersioned(version, encodeItem(item)));
        expect(found).toEqual(version);
        expect(decodeItem(value)).toEqual(item);
      }),
    );
  });

  it("bytes that are no text, no JSON, no version or of an unknown format are refused", () => {
    const bytes = (text: string) => new Uint8Array(Buffer.from(text));
    refusal(() => decodeVersioned(Uint8Array.of(0xff)));
    refusal(() => decodeVersioned(new Uint8Array(0)));
    for (let length = 0; length < golden.length; length++) {
      refusal(() => decodeVersioned(bytes(golden.slice(0, length))));
    }
    for (const bad of [
      golden.replace("3", "0"),
      golden.replace("revision", "rev"),
      golden.replace(',"value', ',"x":1,"value'),
    ]) {
      refusal(() => decodeVersioned(bytes(bad)));
    }
    const error = refusal(() => decodeVersioned(bytes(golden.replace('"format":1', '"format":2'))));
    expect(error.message).toMatch(/format 2.*reads format 1/);
  });
});
