/** Entries: what is a genuine copy, and what is the same content (rules 2, 4, 5, 20). */
import { describe, expect, test } from "vitest";
import { NodeDigest } from "../../lib/adapters/node/node-digest.ts";
import { isGenuine, sameBytes, sameContent, sealEntry } from "../../lib/protocol/entry.ts";
import { entryId, ledgerId, tenure } from "../../lib/protocol/ids.ts";
import type { EntryHeader, SealedEntry } from "../../lib/protocol/ports.ts";
import type { LedgerDigest } from "../../lib/protocol/replication.ts";

const digests: [string, LedgerDigest][] = [
  ["crc32", { type: "crc32" }],
  ["hmac-sha256", { type: "hmac-sha256", keyHex: "0123456789abcdef0123456789abcdef" }],
];
const header: EntryHeader = {
  ledgerId: ledgerId(7),
  entryId: entryId(3),
  lastAddConfirmed: entryId(1),
  length: 30,
  tenure: tenure("T"),
};
const port = new NodeDigest();
const bytes = new Uint8Array([1, 2, 3]);

/** The entry with one thing about it changed and nothing else. */
const changes: [string, (entry: SealedEntry) => SealedEntry][] = [
  ["its ledger", (entry) => ({ ...entry, header: { ...header, ledgerId: ledgerId(8) } })],
  ["its id", (entry) => ({ ...entry, header: { ...header, entryId: entryId(4) } })],
  ["its LAC", (entry) => ({ ...entry, header: { ...header, lastAddConfirmed: entryId(2) } })],
  ["its length", (entry) => ({ ...entry, header: { ...header, length: 31 } })],
  ["its tenure", (entry) => ({ ...entry, header: { ...header, tenure: tenure("U") } })],
  ["a byte of it", (entry) => ({ ...entry, payload: new Uint8Array([1, 2, 4]) })],
  ["its end", (entry) => ({ ...entry, payload: new Uint8Array([1, 2]) })],
  [
    "its digest",
    (entry) => ({ ...entry, digest: entry.digest.map((byte, i) => (i === 0 ? byte ^ 1 : byte)) }),
  ],
  ["the digest's end", (entry) => ({ ...entry, digest: entry.digest.slice(0, -1) })],
];

describe.each(digests)("with %s", (_, digest) => {
  const ledger = { ledgerId: ledgerId(7), digest };
  const entry = sealEntry(port, digest, header, bytes);

  test("a sealed entry is genuine, as itself and as any entry of its ledger", () => {
    expect(isGenuine(port, ledger, entry, entryId(3))).toBe(true);
    expect(isGenuine(port, ledger, entry)).toBe(true);
    const copy = { ...entry, payload: entry.payload.slice(), digest: entry.digest.slice() };
    expect(isGenuine(port, ledger, copy, entryId(3))).toBe(true);
  });

  test.each(changes)("with %s changed it is not", (_what, change) => {
    expect(isGenuine(port, ledger, change(entry))).toBe(false);
  });

  test("it is no copy of another entry, nor of another ledger", () => {
    expect(isGenuine(port, ledger, entry, entryId(4))).toBe(false);
    expect(isGenuine(port, { ledgerId: ledgerId(8), digest }, entry)).toBe(false);
  });

  test("every byte of an empty payload's entry counts as well", () => {
    for (const empty of [new Uint8Array(0), new TextEncoder().encode(""), new Uint8Array(4).subarray(4)]) {
      const none = sealEntry(port, digest, header, empty);
      expect(isGenuine(port, ledger, { ...none, payload: new Uint8Array(9).slice(9) })).toBe(true);
      const moved = { ...none, header: { ...header, lastAddConfirmed: entryId(2) } };
      expect(isGenuine(port, ledger, moved)).toBe(false);
    }
  });
});

describe("the same content", () => {
  const entry = sealEntry(port, { type: "crc32" }, header, bytes);

  test.each(
    changes.filter(([what]) =>
      ["its ledger", "its id", "its tenure", "a byte of it", "its end"].includes(what),
    ),
  )("is another one if %s differs", (_, change) => {
    expect(sameContent(entry, change(entry))).toBe(false);
  });

  test("means ledger, entry id, tenure and payload", () => {
    expect(sameContent(entry, { ...entry, payload: bytes.slice() })).toBe(true);
  });

  test("bytes are compared one by one", () => {
    expect(sameBytes(new Uint8Array([1, 2]), new Uint8Array([1, 2]))).toBe(true);
    expect(sameBytes(new Uint8Array([1, 2]), new Uint8Array([1, 3]))).toBe(false);
    expect(sameBytes(new Uint8Array([1, 2]), new Uint8Array([1, 2, 3]))).toBe(false);
  });
});
