/** Query strings whose parameters are all known: a misspelt one is refused, and told what there is. */
import { z } from "@hono/zod-openapi";

export function strictQuery<S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (found) => (found.code === "unrecognized_keys" ? `there are ${names}` : undefined),
  });
}
