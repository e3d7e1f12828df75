/** Requests that API Gateway hands to a function, given to the HTTP surface that a laptop serves, too. */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Hono } from "hono";
import { handle } from "hono/aws-lambda";
import type { ApiApp } from "../api/route.ts";
import { withinPayload } from "./whole-answer.ts";

export type HttpAnswerer = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Of a REST API, which passes the path on as it was encoded. */
export function isHttpRequest(event: unknown): event is APIGatewayProxyEvent {
  return typeof event === "object" && event !== null && "httpMethod" in event && "path" in event;
}

/** Whether a gateway made the event, or a caller that invokes the function itself and waits for all of it. */
export function isOfGateway({ requestContext }: APIGatewayProxyEvent): boolean {
  return typeof requestContext?.apiId === "string" && requestContext.apiId !== "";
}

export function answerHttp(app: ApiApp): HttpAnswerer {
  const answer = answerer((request, rawPath) => app.fetch(request, { rawPath }));
  return async (event, context) => withinPayload(event, await answer(event, context));
}

/** The answer before it is made into a gateway's: its body may still be on its way. */
export async function httpAnswer(
  app: ApiApp,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Response> {
  const made: Response[] = [];
  const refused = await answerer(async (request, rawPath) => {
    made.push(await app.fetch(request, { rawPath }));
    return new Response();
  })(event, context);
  const [answer] = made;
  // The adapter's own: the event was no request that can be made.
  return answer ?? new Response(refused.body, { status: refused.statusCode });
}

function answerer(fetch: (request: Request, rawPath: string) => Response | Promise<Response>): HttpAnswerer {
  // The adapter asks no more of an application than to fetch.
  const passed = {
    fetch: (request: Request, { event }: { readonly event: APIGatewayProxyEvent }) =>
      fetch(request, event.path),
  };
  const answer = handle(passed as unknown as Hono);
  return async (event, context) =>
    // The adapter's own types leave out what it does not read.
    (await answer(
      event as unknown as Parameters<typeof answer>[0],
      context as never,
    )) as APIGatewayProxyResult;
}
