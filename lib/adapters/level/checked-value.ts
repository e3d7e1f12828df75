/**
 * A checksum before each stored value, over its key and its bytes. LevelDB does not check its blocks when it
 * reads, and a flipped bit in a fence, a Tombstone or a ledger's last entry would be believed.
 */
import { crc32 } from "node:zlib";
import { FencelineError } from "../../protocol/errors.ts";

const CHECK_BYTES = 4;

export function withCheck(key: string, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(CHECK_BYTES + value.length);
  new DataView(bytes.buffer).setUint32(0, crc32(value, crc32(key)));
  bytes.set(value, CHECK_BYTES);
  return bytes;
}

/** The value as a view of `bytes`. `data_corrupt` if it is not what was stored under this key. */
export function checked(key: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length >= CHECK_BYTES) {
    const value = new Uint8Array(bytes.buffer, bytes.byteOffset + CHECK_BYTES, bytes.length - CHECK_BYTES);
    const check = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    if (check === crc32(value, crc32(key))) return value;
  }
  throw new FencelineError("data_corrupt", {
    message: `the value stored under ${JSON.stringify(key)} fails its checksum: the disk or the file is damaged`,
  });
}
