/** How one kind of item becomes plain JSON and back. */
import type { Item } from "../protocol/items.ts";
import type { JsonFields, JsonObject } from "./json-fields.ts";

export interface ItemCodec<T extends Item> {
  /** Grows with each change of this kind's fields. */
  readonly format: number;
  /** The item's fields; `kind` and `format` are added by the caller. */
  encode(item: T): JsonObject;
  decode(fields: JsonFields): T;
}
