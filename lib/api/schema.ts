/**
 * How the surface's schemas are made: each at its first use, and once. A process that starts builds none, and
 * a request those that it is checked by; the rest stands ready for GET /v1/openapi.json.
 */
import * as z from "zod/mini";

/** What OpenAPI says of a schema beyond what it checks, or in place of that. */
export interface SchemaNotes {
  /** Name of a schema that stands among the document's components. */
  readonly id?: string;
  readonly description?: string;
  readonly example?: string;
  readonly type?: "integer";
  readonly format?: "binary";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** As JavaScript and Python both read it. */
  readonly pattern?: string;
  /** Members of which a value has not all. */
  readonly not?: { readonly required: readonly string[] };
  readonly default?: number | string;
}

/** A schema, made when it is asked for first. */
export type Schema<S extends z.ZodMiniType = z.ZodMiniType> = () => S;

/** The values that a schema lets through, as they are after it. */
export type Wire<S extends Schema> = z.output<ReturnType<S>>;
/** What may be sent to it. */
export type Sent<S extends Schema> = z.input<ReturnType<S>>;

/** Notes by schema; one that was made out of another has that one's, too. */
export const schemaNotes = z.registry<SchemaNotes>();

/** `make`, called at the first use; what it made is kept. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A schema that checks as `schema` does, of which OpenAPI says more. */
export function noted<S extends z.ZodMiniType>(schema: S, notes: SchemaNotes): S {
  const copy = z.clone(schema);
  schemaNotes.add(copy, notes);
  return copy;
}

/** A schema that OpenAPI lists under a name of its own. */
export function component<S extends z.ZodMiniType>(
  id: string,
  make: () => S,
  notes: SchemaNotes = {},
): Schema<S> {
  return once(() => {
    const schema = make();
    schemaNotes.add(schema, { id, ...notes });
    return schema;
  });
}
