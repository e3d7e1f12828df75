/**
 * Requests handed to a region's functions by invoking them, for callers who may invoke and would rather save
 * the gateway's price and time. A function is given what the gateway would give it.
 */
import type https from "node:https";
import { InvokeCommand, LambdaClient, LambdaServiceException } from "@aws-sdk/client-lambda";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { ForeignAnswerError, GatewayError, type RequestError } from "../client-errors.ts";
import type { HttpRequest, SendHttp } from "../http-words.ts";
import { refuseTooLarge } from "./payload-limit.ts";

interface DirectFields {
  readonly region: string;
  /** The region's functions: what reads is served by one, what writes by the other. */
  readonly functions: { readonly append: string; readonly read: string };
  /** Connects to Lambda; the SDK's own if absent. */
  readonly httpsAgent?: https.Agent;
}

/** Lambda refused or its function broke: what was asked for may have happened. */
class DirectInvokeError extends Error {
  override readonly name = "DirectInvokeError";
}

interface ProxyAnswer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

export function directSend({ region, functions, httpsAgent }: DirectFields): SendHttp {
  // One attempt: the caller alone knows whether a repetition is safe.
  const by = httpsAgent === undefined ? {} : { requestHandler: new NodeHttpHandler({ httpsAgent }) };
  const client = new LambdaClient({ region, maxAttempts: 1, ...by });
  return async (address, request) => {
    const name = request.method === "GET" ? functions.read : functions.append;
    const event = Buffer.from(JSON.stringify(eventOf(address, request)));
    refuseTooLarge(event.length, request.method);
    const command = new InvokeCommand({ FunctionName: name, Payload: event });
    const { FunctionError, Payload } = await client
      .send(command, { abortSignal: request.signal })
      .catch((error: unknown) => {
        throw refusalOf(error, name, request.method) ?? error;
      });
    const text = Buffer.from(Payload ?? []).toString("utf8");
    if (FunctionError !== undefined) throw new DirectInvokeError(`${name} failed: ${text.slice(0, 500)}`);
    return responseOf(JSON.parse(text) as ProxyAnswer);
  };
}

/** What Lambda itself answered, if it did. */
function refusalOf(error: unknown, name: string, method: string): RequestError | undefined {
  if (!(error instanceof LambdaServiceException)) return undefined;
  const status = error.$metadata.httpStatusCode ?? 500;
  const effects = method === "GET" ? "none" : "possible";
  const said = `Lambda did not invoke ${name}: ${error.message} (${error.name})`;
  if (status < 500 && status !== 429) return new ForeignAnswerError(said, "none");
  const { retryAfterSeconds } = error as { readonly retryAfterSeconds?: string };
  const waitMs = retryAfterSeconds === undefined ? undefined : Number(retryAfterSeconds) * 1_000;
  return new GatewayError(said, status, effects, waitMs);
}

/** A proxy event of a REST API, as far as the functions read it. */
function eventOf(address: string, request: HttpRequest): unknown {
  const url = new URL(address);
  const query = [...new Set(url.searchParams.keys())];
  return {
    resource: "/{proxy+}",
    httpMethod: request.method,
    path: url.pathname,
    headers: { ...request.headers, host: url.host },
    multiValueHeaders: Object.fromEntries(
      Object.entries(request.headers).map(([name, one]) => [name, [one]]),
    ),
    queryStringParameters: Object.fromEntries(url.searchParams),
    multiValueQueryStringParameters: Object.fromEntries(
      query.map((name) => [name, url.searchParams.getAll(name)]),
    ),
    body: request.body ?? null,
    isBase64Encoded: false,
    requestContext: { path: url.pathname, httpMethod: request.method, stage: "direct" },
  };
}

function responseOf(answer: ProxyAnswer): Response {
  const headers = new Headers(answer.headers ?? {});
  for (const [name, values] of Object.entries(answer.multiValueHeaders ?? {})) {
    for (const value of values) headers.set(name, value);
  }
  const encoding = answer.isBase64Encoded === true ? "base64" : "utf8";
  return new Response(Buffer.from(answer.body ?? "", encoding), { status: answer.statusCode, headers });
}
