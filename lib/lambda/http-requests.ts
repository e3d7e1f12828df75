/**
 * Requests that API Gateway hands to a function, given to the HTTP surface that a laptop serves, too.
 *
 * HR1 A body's octets arrive as they were sent: the gateway takes every media type as binary (lib/infra), so
 *     that a body is base 64 in the event, and bytes that are no UTF-8 reach the surface, which judges them.
 * HR2 The path is taken from `path` alone, which a REST API passes on as it stood on the request line. What
 *     `pathParameters` hold is decoded or not, as the gateway pleases.
 */
import { isUtf8 } from "node:buffer";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { problemResponse } from "../api/problem.ts";
import type { ApiApp } from "../api/route.ts";
import { FencelineError } from "../protocol/errors.ts";
import { withinPayload } from "./whole-answer.ts";

export type HttpAnswerer = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

export function isHttpRequest(event: unknown): event is APIGatewayProxyEvent {
  return typeof event === "object" && event !== null && "httpMethod" in event && "path" in event;
}

/** Whether a gateway made the event, or a caller that invokes the function itself and waits for all of it. */
export function isOfGateway({ requestContext }: APIGatewayProxyEvent): boolean {
  return typeof requestContext?.apiId === "string" && requestContext.apiId !== "";
}

export function answerHttp(app: ApiApp, region: string): HttpAnswerer {
  return async (event) => withinPayload(event, await wholeAnswer(await httpAnswer(app, region, event)));
}

/** The answer before it is made into a gateway's: its body may still be on its way. */
export async function httpAnswer(
  app: ApiApp,
  region: string,
  event: APIGatewayProxyEvent,
): Promise<Response> {
  const request = requestOf(event);
  if (request instanceof Request) return await app.fetch(request, { rawPath: event.path });
  const requestId = crypto.randomUUID();
  const refusal = problemResponse(request, { requestId, region, method: event.httpMethod });
  refusal.headers.set("request-id", requestId);
  refusal.headers.set("log-region", region);
  return refusal;
}

/** A refusal if the event is of no request that can be made. */
function requestOf(event: APIGatewayProxyEvent): Request | FencelineError {
  const { httpMethod: method, body, isBase64Encoded } = event;
  try {
    const headers = headersOf(event);
    const host = event.requestContext?.domainName ?? headers.get("host") ?? "localhost";
    // A REST API has no "?" in a path; of a gateway that decodes, the name would end there.
    const url = `https://${host}${event.path.replaceAll("?", "%3F")}${queryOf(event)}`;
    // A body of GET means nothing, here as on a laptop.
    if (body === null || body === undefined || method === "GET" || method === "HEAD") {
      return new Request(url, { method, headers });
    }
    const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
    headers.set("content-length", String(bytes.length));
    return new Request(url, { method, headers, body: bytes });
  } catch (cause) {
    return new FencelineError("invalid_request", {
      message: `the gateway's event is no request that can be made: ${cause}`,
      cause,
    });
  }
}

function headersOf({ headers, multiValueHeaders }: APIGatewayProxyEvent): Headers {
  const given = new Headers();
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) {
    for (const value of values ?? []) given.append(name, value);
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined && !given.has(name)) given.set(name, value);
  }
  return given;
}

/** Names and values are decoded in an event. */
function queryOf(event: APIGatewayProxyEvent): string {
  const { queryStringParameters: single, multiValueQueryStringParameters: multiple } = event;
  const parts = Object.entries(multiple ?? single ?? {}).flatMap(([name, value]) =>
    [value ?? ""].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  );
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** As text if it is text, else in base 64, which the gateway decodes. */
async function wholeAnswer(answer: Response): Promise<APIGatewayProxyResult> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isBase64Encoded = !isUtf8(bytes);
  return {
    statusCode: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: bytes.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}
