/** Digests by Node's own zlib and OpenSSL: CRC-32 in 4 bytes, big-endian, and HMAC-SHA-256 in 32. */
import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import { entryHeaderBytes } from "../../formats/entry-format.ts";
import { FencelineError } from "../../protocol/errors.ts";
import type { Digest, EntryHeader } from "../../protocol/ports.ts";
import type { LedgerDigest } from "../../protocol/replication.ts";

/** 128 bits: below that a key can be searched for. */
const KEY_BYTES_MIN = 16;
const keyPattern = /^(?:[0-9a-f]{2})+$/i;

export class NodeDigest implements Digest {
  compute(digest: LedgerDigest, header: EntryHeader, payload: Uint8Array): Uint8Array {
    const headerBytes = entryHeaderBytes(header);
    switch (digest.type) {
      case "crc32":
        return bigEndian(continued(crc32(headerBytes), payload));
      case "hmac-sha256": {
        const mac = createHmac("sha256", keyOf(digest.keyHex)).update(headerBytes).update(payload);
        // A copy: plain bytes, not a Buffer that shares a pool.
        return new Uint8Array(mac.digest());
      }
    }
  }
}

/** Node's zlib.crc32 forgets what it continues from when the bytes are an empty view without a buffer. */
function continued(crc: number, bytes: Uint8Array): number {
  return bytes.length === 0 ? crc : crc32(bytes, crc);
}

function bigEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function keyOf(keyHex: string): Buffer {
  // Buffer.from drops what is not base 16, which would seal entries with a shorter key or none.
  if (!keyPattern.test(keyHex) || keyHex.length < 2 * KEY_BYTES_MIN) {
    throw new FencelineError("data_corrupt", {
      message:
        `the ledger's HMAC key must be ${KEY_BYTES_MIN} bytes or more in base 16, ` +
        `it has ${keyHex.length} characters of which not all may be digits; its metadata is damaged`,
    });
  }
  return Buffer.from(keyHex, "hex");
}
