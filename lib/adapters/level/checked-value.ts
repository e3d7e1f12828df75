/**
 * A checksum before each stored value, over its bytes and its key. LevelDB does not check its blocks when it
 * reads, and a flipped bit in a fence, a Tombstone or a ledger's last entry would be believed.
 */
import { crc32 } from "node:zlib";
import { FencelineError } from "../../protocol/errors.ts";

const CHECK_BYTES = 4;

export function withCheck(key: string, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(CHECK_BYTES + value.length);
  new DataView(bytes.buffer).setUint32(0, checksum(key, value));
  bytes.set(value, CHECK_BYTES);
  return bytes;
}

/** The value as a view of `bytes`. `data_corrupt` if it is not what was stored under this key. */
export function checked(key: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length >= CHECK_BYTES) {
    const value = new Uint8Array(bytes.buffer, bytes.byteOffset + CHECK_BYTES, bytes.length - CHECK_BYTES);
    const check = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    if (check === checksum(key, value)) return value;
  }
  throw new FencelineError("data_corrupt", {
    message: `the value under ${JSON.stringify(key)} fails its checksum: the disk or the file is damaged`,
  });
}

/** The key comes last: zlib.crc32 forgets what it continues from when given some kinds of empty view. */
function checksum(key: string, value: Uint8Array): number {
  return crc32(key, crc32(value));
}
