/** Names of objects and keys of items: there and back, golden, and in the order that is asked of them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeItemKey, encodeItemKey, partitionBounds } from "../../lib/formats/item-key-format.ts";
import {
  BEHIND_LEDGERS,
  behindPrefix,
  ledgerPrefix,
  objectKey,
  parseObjectKey,
} from "../../lib/formats/object-keys.ts";
import { AssertionError } from "../../lib/protocol/assert.ts";
import { entryId, ledgerId } from "../../lib/protocol/ids.ts";
import type { StoreKey } from "../../lib/protocol/ports.ts";
import { anyEntryId, anyLedgerId, anyStoreKey } from "./arbitraries.ts";

const max = 2 ** 53 - 1;

// Names that exist in stores. If a change to the code changes them, the code is wrong.
const golden: readonly (readonly [StoreKey, string])[] = [
  [{ kind: "incarnation" }, "incarnation"],
  [{ kind: "fence", ledgerId: ledgerId(0) }, "779a/0000000000000000/fence"],
  [{ kind: "fence", ledgerId: ledgerId(max) }, "251a/9007199254740991/fence"],
  [
    { kind: "slot", ledgerId: ledgerId(1234567890123456), entryId: entryId(0) },
    "3ae4/1234567890123456/entry-9007199254740991",
  ],
  [
    { kind: "slot", ledgerId: ledgerId(7), entryId: entryId(12) },
    "699f/0000000000000007/entry-9007199254740979",
  ],
  [
    { kind: "slot", ledgerId: ledgerId(7), entryId: entryId(max) },
    "699f/0000000000000007/entry-0000000000000000",
  ],
];

describe("object names", () => {
  it.each(golden)("the name of %o is this, for ever", (key, name) => {
    expect(objectKey(key)).toBe(name);
    expect(parseObjectKey(name)).toEqual(key);
  });

  it("any name alone tells what it is; no two keys share one", () => {
    fc.assert(
      fc.property(anyStoreKey, anyStoreKey, (one, other) => {
        expect(parseObjectKey(objectKey(one))).toEqual(one);
        expect(objectKey(one) === objectKey(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it("the newest entry sorts first, the fence behind the entries, all under the ledger's prefix", () => {
    fc.assert(
      fc.property(anyLedgerId, anyEntryId, anyEntryId, (ledger, one, other) => {
        const name = (entry: typeof one) => objectKey({ kind: "slot", ledgerId: ledger, entryId: entry });
        const fence = objectKey({ kind: "fence", ledgerId: ledger });
        expect(name(one) < name(other)).toBe(one > other);
        expect(name(one) < fence).toBe(true);
        for (const each of [name(one), fence]) {
          expect(each.startsWith(ledgerPrefix(ledger))).toBe(true);
          expect(each < behindPrefix(ledgerPrefix(ledger))).toBe(true);
          expect(each < BEHIND_LEDGERS).toBe(true);
        }
        expect(objectKey({ kind: "incarnation" }) > BEHIND_LEDGERS).toBe(true);
      }),
    );
  });

  it("no ledger's range holds another ledger's names", () => {
    fc.assert(
      fc.property(anyLedgerId, anyLedgerId, (one, other) => {
        const name = objectKey({ kind: "fence", ledgerId: other });
        const inside = name >= ledgerPrefix(one) && name < behindPrefix(ledgerPrefix(one));
        expect(inside).toBe(one === other);
      }),
    );
  });

  it("ledgers with neighbouring ids are spread by the hash", () => {
    const hashes = Array.from({ length: 1_000 }, (_, id) => ledgerPrefix(ledgerId(id)).slice(0, 4));
    expect(new Set(hashes).size).toBeGreaterThan(950);
    expect(new Set(hashes.map((hash) => hash[0])).size).toBe(16);
  });

  it("names that are never given stand for nothing", () => {
    const name = objectKey({ kind: "slot", ledgerId: ledgerId(7), entryId: entryId(12) });
    for (const foreign of [
      "",
      "incarnation2",
      "!fenceline",
      name.slice(0, -1),
      `${name}0`,
      ` ${name}`,
      name.replace("entry", "Entry"),
      name.replace(/^..../, "ffff"), // another hash than the ledger's
      name.replace("0000000000000007", "9999999999999999"),
      name.replace(/\d{16}$/, "9007199254740992"), // before entry 0
      name.replace(/entry.*/, "fence2"),
      name.replace(/entry.*/, ""),
    ]) {
      expect(parseObjectKey(foreign), foreign).toBeUndefined();
    }
  });

  it("an entry before the first has no name, and neither has half a ledger", () => {
    expect(() => objectKey({ kind: "slot", ledgerId: ledgerId(1), entryId: entryId(-1) })).toThrow(
      AssertionError,
    );
    expect(() => ledgerPrefix(0.5 as never)).toThrow(AssertionError);
  });
});

describe("item keys", () => {
  /** Every code unit, lone surrogates and control characters among them. */
  const units = fc
    .array(
      fc.oneof(
        fc.nat(0xffff),
        fc.constantFrom(0, 1, 2, 0x30, 0x31, 0x7e, 0x7f, 0x80, 0xd7ff, 0xd800, 0xe000),
      ),
      {
        maxLength: 8,
      },
    )
    .map((codes) => String.fromCharCode(...codes));

  it("are these, for ever", () => {
    expect(encodeItemKey({ partition: "segments#abc", sort: "0000000000000042" })).toBe(
      "segments#abc\u00000000000000000042",
    );
    const odd = { partition: "\u0000\u0001\u0002", sort: "é\u007f\ud800~" };
    expect(encodeItemKey(odd)).toBe("\u00010\u00011\u0002\u0000\u007f00e9\u007f007f\u007fd800~");
    expect(decodeItemKey(encodeItemKey(odd))).toEqual(odd);
  });

  it("come back as they were, and are ASCII", () => {
    fc.assert(
      fc.property(units, units, (partition, sort) => {
        const encoded = encodeItemKey({ partition, sort });
        expect(decodeItemKey(encoded)).toEqual({ partition, sort });
        expect(Buffer.from(encoded).length).toBe(encoded.length);
      }),
    );
  });

  it("sort as bytes the way their sort keys do by code unit", () => {
    fc.assert(
      fc.property(units, units, units, (partition, one, other) => {
        const encoded = (sort: string) => Buffer.from(encodeItemKey({ partition, sort }));
        expect(Buffer.compare(encoded(one), encoded(other)) < 0).toBe(one < other);
      }),
    );
  });

  it("lie in their partition's bounds and in no other's", () => {
    fc.assert(
      fc.property(units, units, units, (partition, other, sort) => {
        const { from, before } = partitionBounds(partition);
        const inside = (key: string) => key >= from && key < before;
        expect(inside(encodeItemKey({ partition, sort }))).toBe(true);
        expect(inside(encodeItemKey({ partition: other, sort }))).toBe(partition === other);
      }),
    );
  });

  it("a key that was never given is refused", () => {
    for (const foreign of ["", "one part", "a\u0000b\u0000c"]) {
      expect(() => decodeItemKey(foreign)).toThrow(/damaged/);
    }
  });
});
