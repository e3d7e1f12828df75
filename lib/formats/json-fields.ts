/**
 * Reading stored JSON objects field by field. Each field is checked; at the end none may be left unread: an
 * item with a field we do not know was written by a newer build, and writing it back would drop that field.
 */
import { damaged, unknownFormat } from "./format-errors.ts";
import { readText } from "./utf8-text.ts";

export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

export class JsonFields {
  readonly #what: string;
  readonly #object: Readonly<Record<string, unknown>>;
  #read = 0;

  /** `what` names the object in errors. */
  constructor(what: string, value: unknown) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw damaged(what, `an object is expected, found ${shown(value)}`);
    }
    this.#what = what;
    this.#object = value as Readonly<Record<string, unknown>>;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name);
  }

  text(name: string): string {
    const value = this.#take(name);
    return typeof value === "string" ? value : this.#refuse(name, "a string", value);
  }

  boolean(name: string): boolean {
    const value = this.#take(name);
    return typeof value === "boolean" ? value : this.#refuse(name, "true or false", value);
  }

  /** The number of the format that the object was written in. Throws `unknownFormat` unless it is `known`. */
  format(known: number, what = this.#what): void {
    const given = this.integer("format", 1);
    if (given !== known) throw unknownFormat(what, given, known);
  }

  /** A finite number. */
  number(name: string): number {
    const value = this.#take(name);
    return typeof value === "number" && Number.isFinite(value)
      ? value
      : this.#refuse(name, "a number", value);
  }

  /** A whole number from `min` to 2^53 - 1. */
  integer(name: string, min: number): number {
    const value = this.#take(name);
    return typeof value === "number" && Number.isSafeInteger(value) && value >= min
      ? value
      : this.#refuse(name, `an integer >= ${min}`, value);
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.#take(name);
    return allowed.find((choice) => choice === value) ?? this.#refuse(name, allowed.join(" or "), value);
  }

  textList(name: string): string[] {
    return this.#list(name).map((value) =>
      typeof value === "string" ? value : this.#refuse(name, "a list of strings", value),
    );
  }

  /** Any value, which a format of its own reads. */
  json(name: string): unknown {
    return this.#take(name);
  }

  /** The nested object, read whole by `read`. */
  object<T>(name: string, read: (fields: JsonFields) => T): T {
    return readObject(`${this.#what}.${name}`, this.#take(name), read);
  }

  list<T>(name: string, read: (fields: JsonFields) => T): T[] {
    return this.#list(name).map((value) => readObject(`${this.#what}.${name}`, value, read));
  }

  /** Refuses fields that nobody read. */
  end(): void {
    const names = Object.keys(this.#object);
    if (names.length !== this.#read) {
      throw damaged(this.#what, `of its fields ${names.join(", ")} only ${this.#read} are known`);
    }
  }

  /** The object breaks a rule that spans fields. */
  fail(detail: string): never {
    throw damaged(this.#what, detail);
  }

  #list(name: string): unknown[] {
    const value = this.#take(name);
    return Array.isArray(value) ? value : this.#refuse(name, "a list", value);
  }

  #take(name: string): unknown {
    if (!this.has(name)) throw damaged(this.#what, `it has no ${name}`);
    this.#read += 1;
    return this.#object[name];
  }

  #refuse(name: string, expected: string, value: unknown): never {
    throw damaged(this.#what, `${name} must be ${expected}, found ${shown(value)}`);
  }
}

/** Reads an object whole: a field that `read` leaves out is an error. */
export function readObject<T>(what: string, value: unknown, read: (fields: JsonFields) => T): T {
  const fields = new JsonFields(what, value);
  const result = read(fields);
  fields.end();
  return result;
}

/** The same of an object in bytes of UTF-8 JSON. */
export function readBytes<T>(what: string, bytes: Uint8Array, read: (fields: JsonFields) => T): T {
  const text = readText(bytes, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged(what, "it is not JSON", error);
  }
  return readObject(what, value, read);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
