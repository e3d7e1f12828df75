/**
 * Fields of an entry's payload, one after another: big-endian numbers, and texts of printable ASCII. A reader
 * that goes past the end, or meets a number that is none of ours, throws `Corruption`.
 */
import { assert } from "../../assert.ts";

/** What is wrong with the bytes; becomes `data_corrupt` with the place where they stand. */
export class Corruption extends Error {}

export const U32 = 2 ** 32;
const CAPACITY_FIRST = 256;

export class FieldWriter {
  #bytes = new Uint8Array(CAPACITY_FIRST);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  u8(value: number): void {
    const at = this.#grow(1);
    this.#view.setUint8(at, checked(value, 0xff));
  }

  u16(value: number): void {
    const at = this.#grow(2);
    this.#view.setUint16(at, checked(value, 0xffff));
  }

  u32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, checked(value, U32 - 1));
  }

  u64(value: number): void {
    const at = this.#grow(8);
    writeU64(this.#view, at, value);
  }

  /** Its length in one byte, then its characters. */
  text(value: string): void {
    this.u8(value.length);
    for (let index = 0; index < value.length; index++) this.u8(value.charCodeAt(index));
  }

  raw(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** What was written. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Where the next `count` bytes go. */
  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

export class FieldReader {
  /** What the next bytes belong to, for the one who reads that they are missing. */
  part = "what precedes its records";
  #offset = 0;
  readonly #view: DataView;

  constructor(private readonly payload: Uint8Array) {
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  u48(): number {
    return this.u16() * U32 + this.u32();
  }

  u64(): number {
    const value = this.u32() * U32 + this.u32();
    if (!Number.isSafeInteger(value)) throw new Corruption("a number leaves the safe integers");
    return value;
  }

  text(): string {
    return String.fromCharCode(...this.raw(this.u8()));
  }

  /** A view of the next bytes. */
  raw(count: number): Uint8Array {
    const at = this.#take(count);
    return this.payload.subarray(at, at + count);
  }

  get leftBytes(): number {
    return this.payload.length - this.#offset;
  }

  #take(count: number): number {
    const at = this.#offset;
    if (count > this.leftBytes) throw new Corruption(`it is cut off within ${this.part}`);
    this.#offset = at + count;
    return at;
  }
}

export function writeU64(view: DataView, offset: number, value: number): void {
  checked(value, Number.MAX_SAFE_INTEGER);
  view.setUint32(offset, Math.floor(value / U32));
  view.setUint32(offset + 4, value % U32);
}

function checked(value: number, max: number): number {
  assert(
    Number.isSafeInteger(value) && value >= 0 && value <= max,
    `${value} is no integer from 0 to ${max}`,
  );
  return value;
}
