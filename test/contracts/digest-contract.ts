/** What every digest must do: the same bytes everywhere, over every field and every byte. */
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { entryId, ledgerId, tenure } from "../../lib/protocol/ids.ts";
import type { Digest, EntryHeader } from "../../lib/protocol/ports.ts";
import type { LedgerDigest } from "../../lib/protocol/replication.ts";

export interface DigestCase {
  readonly title: string;
  readonly run: (digest: Digest) => void;
}

const keyHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const crc: LedgerDigest = { type: "crc32" };
const hmac: LedgerDigest = { type: "hmac-sha256", keyHex };
const header: EntryHeader = {
  ledgerId: ledgerId(0x1234_5678_9abc),
  entryId: entryId(258),
  lastAddConfirmed: entryId(-1),
  length: 9,
  tenure: tenure("t1"),
};
/** The header's bytes, spelled out: they are part of what is stored and never change. */
const headerHex =
  `0000123456789abc${"0000000000000102"}${"ffffffffffffffff"}${"0000000000000009"}` + `0002${"7431"}`;
const payload = new TextEncoder().encode("123456789");

export const digestCases: readonly DigestCase[] = [
  {
    title: "CRC-32 of header and payload, four bytes, the highest first",
    run: (digest) => {
      const covered = Buffer.concat([Buffer.from(headerHex, "hex"), payload]);
      expect(hex(digest.compute(crc, header, payload))).toBe(
        referenceCrc32(covered).toString(16).padStart(8, "0"),
      );
    },
  },
  {
    title: "HMAC-SHA-256 of header and payload under the ledger's key",
    run: (digest) => {
      const covered = Buffer.concat([Buffer.from(headerHex, "hex"), payload]);
      expect(hex(digest.compute(hmac, header, payload))).toBe(hmacOf(covered));
    },
  },
  {
    title: "an empty payload leaves the header covered, whatever its view is made of",
    run: (digest) => {
      const covered = Buffer.from(headerHex, "hex");
      const expected = referenceCrc32(covered).toString(16).padStart(8, "0");
      for (const empty of [
        new Uint8Array(0),
        new Uint8Array(new ArrayBuffer(0)),
        new Uint8Array(4).subarray(4),
        new TextEncoder().encode(""),
        structuredClone(new Uint8Array(0)),
        Buffer.alloc(0),
      ]) {
        expect(hex(digest.compute(crc, header, empty))).toBe(expected);
        expect(hex(digest.compute(hmac, header, empty))).toBe(hmacOf(covered));
      }
    },
  },
  {
    title: "golden digests: entries sealed long ago still verify",
    run: (digest) => {
      expect(hex(digest.compute(crc, header, payload))).toBe("9789f9a5");
      expect(hex(digest.compute(hmac, header, payload))).toBe(
        "ede7fcdc5a648955fc1b64ff2093dc9e19348c1acf9bc29f786781f90efa9cf1",
      );
    },
  },
  {
    title: "each field of the header, each byte of the payload and the key change the digest",
    run: (digest) => {
      for (const kind of [crc, hmac]) {
        const others: [EntryHeader, Uint8Array][] = [
          [{ ...header, ledgerId: ledgerId(header.ledgerId + 2 ** 33) }, payload],
          [{ ...header, entryId: entryId(259) }, payload],
          [{ ...header, lastAddConfirmed: entryId(0) }, payload],
          [{ ...header, length: 10 }, payload],
          [{ ...header, tenure: tenure("t2") }, payload],
          [header, payload.subarray(1)],
          ...Array.from(payload, (_, index): [EntryHeader, Uint8Array] => [header, flipped(index)]),
        ];
        const digests = [[header, payload] as const, ...others].map(([head, body]) =>
          hex(digest.compute(kind, head, body)),
        );
        expect(new Set(digests).size).toBe(others.length + 1);
      }
      const otherKey: LedgerDigest = { type: "hmac-sha256", keyHex: keyHex.replace("00", "01") };
      expect(digest.compute(otherKey, header, payload)).not.toEqual(digest.compute(hmac, header, payload));
    },
  },
  {
    title: "pure: the same again gives the same plain bytes, of an empty payload too, and changes nothing",
    run: (digest) => {
      const given = payload.slice();
      for (const kind of [crc, hmac]) {
        for (const body of [given, new Uint8Array(0), Buffer.from(given)]) {
          const first = digest.compute(kind, header, body);
          expect(Object.getPrototypeOf(first)).toBe(Uint8Array.prototype);
          first.fill(0);
          expect(hex(digest.compute(kind, header, body))).not.toMatch(/^0+$/);
        }
      }
      expect(given).toEqual(payload);
    },
  },
  {
    title: "a key that is not base 16, or too short to protect anything, is refused",
    run: (digest) => {
      for (const bad of ["", "zz".repeat(32), "abc", "00ff", `${keyHex}0`, `${keyHex} `]) {
        expect(() => digest.compute({ type: "hmac-sha256", keyHex: bad }, header, payload)).toThrow(
          /HMAC key/,
        );
      }
    },
  },
];

export function digestContract(name: string, make: () => Digest): void {
  describe(`digest: ${name}`, () => {
    for (const one of digestCases) it(one.title, () => one.run(make()));
  });
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function flipped(index: number): Uint8Array {
  const bytes = payload.slice();
  bytes[index] = (bytes[index] ?? 0) ^ 0x10;
  return bytes;
}

const hmacOf = (bytes: Uint8Array): string =>
  createHmac("sha256", Buffer.from(keyHex, "hex")).update(bytes).digest("hex");

/** CRC-32 (IEEE 802.3), bit by bit: slow, and independent of what it checks. */
function referenceCrc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
