/** Query strings whose parameters are all known: a misspelt one is refused, and the refusal lists them. */

import type { core } from "zod/mini";
import * as z from "zod/mini";

export function strictQuery<S extends core.$ZodLooseShape>(shape: S) {
  const names = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (found) =>
      found.code === "unrecognized_keys" ? `there ${names === "" ? "is none" : `are ${names}`}` : undefined,
  });
}
