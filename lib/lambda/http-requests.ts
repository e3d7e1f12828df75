/** Requests that API Gateway hands to a function, given to the HTTP surface that a laptop serves, too. */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Hono } from "hono";
import { handle } from "hono/aws-lambda";
import type { ApiApp } from "../api/route.ts";

export type HttpAnswerer = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Of a REST API, which passes the path on as it was encoded. */
export function isHttpRequest(event: unknown): event is APIGatewayProxyEvent {
  return typeof event === "object" && event !== null && "httpMethod" in event && "path" in event;
}

export function answerHttp(app: ApiApp): HttpAnswerer {
  // The adapter asks no more of an application than to fetch.
  const passed = {
    fetch: (request: Request, { event }: { readonly event: APIGatewayProxyEvent }) =>
      app.fetch(request, { rawPath: event.path }),
  };
  const answer = handle(passed as unknown as Hono);
  return async (event, context) =>
    // The adapter's own types leave out what it does not read.
    (await answer(
      event as unknown as Parameters<typeof answer>[0],
      context as never,
    )) as APIGatewayProxyResult;
}
