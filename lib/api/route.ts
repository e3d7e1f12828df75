/**
 * Routes: what each takes and answers is declared once, and both the checks of its requests and the OpenAPI
 * document are made from that.
 *
 * RT1 A handler sees a request only as the route's schemas let it through. Query, path and headers are
 *     checked in this order; the answer names the first that is refused.
 */
import { Hono } from "hono";
import type { TypedResponse } from "hono/types";
import type { StatusCode } from "hono/utils/http-status";
import type { JSONParsed } from "hono/utils/types";
import type * as z from "zod/mini";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import type { RequestPart } from "./pointers.ts";
import { codeOf, type ProblemCode } from "./problem.ts";
import { once, type Schema, type Wire } from "./schema.ts";
import { faultsOf, invalidRequest } from "./validation.ts";

export interface RequestSchemas {
  readonly query?: z.ZodMiniObject;
  readonly params?: z.ZodMiniObject;
  readonly headers?: z.ZodMiniObject;
}

/** A body, which handlers read under limits of their own: this is for the document alone. */
interface RequestBody {
  readonly required: boolean;
  /** Longer ones get `body_too_large`. */
  readonly bytesMax: number;
  readonly description?: string;
  /** By media type. */
  readonly content: Readonly<Record<string, Schema>>;
}

/** Headers of which an answer says that it may have them. */
export type AnswerHeader =
  | "Accept-Encoding"
  | "Log-Format"
  | "Log-Owner"
  | "Preference-Applied"
  | "Retry-After"
  | "Server-Timing";

interface RouteAnswer<S extends Schema = Schema> {
  readonly schema: S;
  readonly description: string;
  /** Headers that it may have beside those of every answer. */
  readonly headers?: readonly AnswerHeader[];
}

/** By status. What a route may fail with is said by `problems`. */
export type RouteAnswers = Readonly<Record<number, RouteAnswer>>;

export interface Route<R extends RequestSchemas = RequestSchemas, A extends RouteAnswers = RouteAnswers> {
  readonly method: "get" | "put" | "post" | "patch" | "delete";
  /** As OpenAPI writes it: `/v1/logs/{log}`. */
  readonly path: string;
  /** Names the operation in OpenAPI, and so in clients that are generated from it. */
  readonly id: string;
  readonly summary: string;
  /** What it may fail with (RP1). */
  readonly problems: readonly ProblemCode[];
  /** Made at the first request of the route. */
  readonly request: () => R;
  readonly body?: RequestBody;
  readonly answers: A;
}

/** What came in, checked and typed. */
type Given<R extends RequestSchemas> = {
  readonly [P in keyof R]: R[P] extends z.ZodMiniType ? z.output<R[P]> : never;
};

type Answered<A extends RouteAnswers> = {
  [S in keyof A & StatusCode]: TypedResponse<JSONParsed<Wire<A[S]["schema"]>>, S, "json">;
}[keyof A & StatusCode];

type RouteHandler<R extends RequestSchemas, A extends RouteAnswers> = (
  c: ApiContext,
  given: Given<R>,
) => Promise<Response & Answered<A>>;

/** A route that takes nothing but its path may leave `request` out. */
export function route<A extends RouteAnswers, R extends RequestSchemas = Record<never, never>>(
  declared: Omit<Route<R, A>, "request"> & { readonly request?: () => R },
): Route<R, A> {
  return { ...declared, request: once(declared.request ?? (() => ({}) as R)) };
}

export function answer<S extends Schema>(
  schema: S,
  description: string,
  headers: readonly AnswerHeader[] = [],
): RouteAnswer<S> {
  return { schema, description, headers };
}

export function jsonBody(schema: Schema, bytesMax: number, required = true): RequestBody {
  return { required, bytesMax, content: { "application/json": schema } };
}

export class ApiApp extends Hono<ApiEnv> {
  /** In the order in which they were added. */
  readonly declared: Route[] = [];

  constructor(private readonly onUndeclared: (route: Route, code: ProblemCode) => void = () => {}) {
    super();
  }

  serve<R extends RequestSchemas, A extends RouteAnswers>(
    declared: Route<R, A>,
    handler: RouteHandler<R, A>,
  ): void {
    this.declared.push(declared);
    const path = declared.path.replaceAll(/\{(.+?)\}/g, ":$1");
    this.on([declared.method], [path], async (c): Promise<Response> => {
      try {
        return await handler(c, checked(declared.request(), c));
      } catch (error) {
        const code = codeOf(error);
        if (!declared.problems.includes(code)) this.onUndeclared(declared, code); // RP1
        throw error;
      }
    });
  }
}

/** RT1. Throws `invalid_request`. */
function checked<R extends RequestSchemas>({ query, params, headers }: R, c: ApiContext): Given<R> {
  return {
    ...(query && { query: checkedPart("query", query, queryOf(c)) }),
    ...(params && { params: checkedPart("path", params, c.req.param()) }),
    ...(headers && { headers: checkedPart("header", headers, c.req.header()) }),
  } as Given<R>;
}

function checkedPart(part: RequestPart, schema: z.ZodMiniType, given: unknown): unknown {
  const { success, data, error } = schema.safeParse(given);
  if (!success) throw invalidRequest(faultsOf(part, error, given), error.issues.length);
  return data;
}

/** A parameter that is given more than once is a list, which no schema of the surface takes. */
function queryOf(c: ApiContext): Record<string, string | readonly string[] | undefined> {
  const given = Object.entries(c.req.queries());
  return Object.fromEntries(given.map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}
