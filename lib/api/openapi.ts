/** The OpenAPI document, made from the routes and the schemas that check their requests. */
import * as z from "zod/mini";
import { type ErrorCode, errorRules } from "../protocol/errors.ts";
import { type Link, links } from "./openapi-links.ts";
import type { ProblemCode } from "./problem.ts";
import type { AnswerHeader, RequestSchemas, Route, RouteAnswers } from "./route.ts";
import { byStatus } from "./route-problems.ts";
import { type Schema, schemaNotes } from "./schema.ts";
import { problem } from "./wire.ts";

const COMPONENTS = "#/components/schemas/";

/** As it is asked for: of a default or a transformation that is what a client sends. */
const asSent = {
  metadata: schemaNotes,
  io: "input",
  // Of a text that is made into a number the library would leave it out.
  override: ({ zodSchema, jsonSchema }) => {
    const value = schemaNotes.get(zodSchema)?.default;
    if (value !== undefined) jsonSchema.default = value;
  },
} as const satisfies Parameters<typeof z.toJSONSchema>[1];

type Json = Record<string, unknown>;

const text = { type: "string" };

const headersOfAll = {
  "Request-Id": { description: "Names the request in the server's own log.", required: true, schema: text },
  "Log-Region": { description: "The region that answers.", required: true, schema: text },
} as const;

const headerNotes: Readonly<Record<AnswerHeader, Json>> = {
  "Retry-After": {
    description: "Seconds to wait before the next attempt, if the problem is retryable.",
    schema: { type: "integer", minimum: 1 },
  },
  "Log-Owner": { description: "The region that owns the log, and `;epoch=` if known.", schema: text },
  "Log-Format": { description: "How record bytes stand in the answer.", schema: text },
  "Server-Timing": { description: "What the read cost, if that was preferred.", schema: text },
  "Preference-Applied": { description: "server-timing, if that was preferred.", schema: text },
  "Accept-Encoding": { description: "identity, if a body was coded.", schema: text },
};

function headersOf(more: readonly AnswerHeader[] = []): Json {
  return { ...headersOfAll, ...Object.fromEntries(more.map((name) => [name, headerNotes[name]])) };
}

export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Fenceline",
      version: "1",
      description: "A globally replicated, fenced log. Names are URL-encoded; errors are RFC 9457 documents.",
    },
    paths,
    // After the operations, for which all of them were made.
    components: { schemas: components() },
  };
}

function operation({ id, summary, request, body, answers, problems }: Route): Json {
  const parameters = parametersOf(request());
  return {
    operationId: id,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: [
              body.description,
              `At most ${body.bytesMax} bytes (413); no Content-Encoding (415).`,
            ]
              .filter((part) => part !== undefined)
              .join(" "),
            required: body.required,
            content: contentOf(body.content),
          },
        }),
    responses: responsesOf(answers, problems, links[id] ?? {}),
  };
}

function parametersOf({ params, query, headers }: RequestSchemas): Json[] {
  return [...parameters("path", params), ...parameters("query", query), ...parameters("header", headers)];
}

function parameters(where: "path" | "query" | "header", schema: z.ZodMiniObject | undefined): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, asSent);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as Json;
    const described = description === undefined ? {} : { description };
    return { name, in: where, required: required.includes(name), ...described, schema: rest };
  });
}

/** By status: what the route answers, and what it may fail with. A status may have both. */
function responsesOf(
  answers: RouteAnswers,
  problems: readonly ProblemCode[],
  linksBy: Readonly<Record<number, readonly Link[]>>,
): Json {
  const responses: Record<string, { description: string; headers: Json; content: Json; links?: Json }> = {};
  for (const [status, { schema, description, headers }] of Object.entries(answers)) {
    const content = contentOf({ "application/json": schema });
    const leads = Object.fromEntries((linksBy[Number(status)] ?? []).map((link) => [link.operationId, link]));
    responses[status] = {
      description,
      headers: headersOf(headers),
      content,
      ...(Object.keys(leads).length === 0 ? {} : { links: leads }),
    };
  }
  for (const [status, codes] of byStatus(problems)) {
    const told = responses[status];
    responses[status] = {
      ...told,
      headers: { ...told?.headers, ...headersOf(headersOfProblems(codes)) },
      description: [...(told === undefined ? [] : [told.description]), `${codes.join(", ")}.`].join(" Or "),
      content: { ...told?.content, "application/problem+json": { schema: problemWith(codes) } },
    };
  }
  const unforeseen = "A problem document (RFC 9457); or an answer of what stands in front of the functions.";
  const content = contentOf({ "application/problem+json": problem });
  return { ...responses, default: { description: unforeseen, content } };
}

function headersOfProblems(codes: readonly ProblemCode[]): AnswerHeader[] {
  const isRetryable = codes.some((code) => code in errorRules && errorRules[code as ErrorCode].retryable);
  return [
    ...(isRetryable ? (["Retry-After"] as const) : []),
    ...(codes.includes("not_owner") ? (["Log-Owner"] as const) : []),
    ...(codes.includes("unsupported_media_type") ? (["Accept-Encoding"] as const) : []),
  ];
}

function problemWith(codes: readonly ProblemCode[]): Json {
  return { allOf: [referred(problem()), { type: "object", properties: { code: { enum: codes } } }] };
}

function contentOf(schemas: Readonly<Record<string, Schema>>): Json {
  const entries = Object.entries(schemas);
  return Object.fromEntries(entries.map(([type, schema]) => [type, { schema: referred(schema()) }]));
}

/** A reference to a component, or the schema in place if it is none. */
function referred(schema: z.ZodMiniType): Json {
  const id = schemaNotes.get(schema)?.id;
  return id === undefined ? plain(z.toJSONSchema(schema, asSent)) : { $ref: `${COMPONENTS}${id}` };
}

function components(): Json {
  const { schemas } = z.toJSONSchema(schemaNotes, { ...asSent, uri: (id) => `${COMPONENTS}${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)]));
}

/** Without what marks a JSON Schema that stands alone. */
function plain({ $schema: _dialect, $id: _address, ...schema }: Json): Json {
  return schema;
}
