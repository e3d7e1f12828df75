/**
 * What the gateway answers in its functions' place, as problem documents like theirs (lib/api/problem.ts).
 *
 * GP1 The documents are constant but for the request's id. The gateway does not offer the size of a request
 *     that is too large: its document says what is allowed, and not what was given.
 * GP2 `side_effects` are none where no function ran. One that failed, or was cut off, may have written.
 * GP3 The two defaults have no status: stating one would change that of all kinds that are not named here.
 */

import { Stack } from "aws-cdk-lib";
import { type GatewayResponseOptions, ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type ProblemCode, titleOf } from "../api/problem.ts";
import { corsHeaders } from "./cross-origin.ts";

interface GatewayProblem {
  readonly status?: number;
  readonly code: ProblemCode | "forbidden";
  readonly detail: string;
  /** If it passes: when to come back. */
  readonly retryAfterMs?: number;
  /** A function ran, or may have. */
  readonly mayHaveRun?: boolean;
}

const UNSIGNED =
  "sign the request for execute-api in this region, with credentials that may execute-api:Invoke, and ask " +
  "for a path and a method that GET /v1/openapi.json lists: the gateway answers the same to others";

const forbidden = (detail: string): GatewayProblem => ({ status: 403, code: "forbidden", detail });

const failed = (detail: string, status?: number): GatewayProblem => ({
  ...(status === undefined ? {} : { status }),
  code: "unknown_outcome",
  detail: `${detail}; what the request was to do may have been done`,
  retryAfterMs: 1_000,
  mayHaveRun: true,
});

const busy = (detail: string): GatewayProblem => ({
  status: 429,
  code: "over_capacity",
  detail,
  retryAfterMs: 1_000,
});

const TOO_LARGE =
  "the request is larger than 10 MB, which the gateway takes, or than 6 MB as an event in base 64, which a " +
  "function takes: some 4,500,000 bytes of body. Nothing was done. Send fewer records at once, or the same " +
  "with Log-Format: base64 where JSON escapes most characters";

const problems: Readonly<Record<string, GatewayProblem>> = {
  ACCESS_DENIED: forbidden(`access is denied; ${UNSIGNED}`),
  API_CONFIGURATION_ERROR: failed("the gateway cannot make this request into one of the function", 500),
  AUTHORIZER_CONFIGURATION_ERROR: failed("the gateway's authorizer cannot be asked", 500),
  AUTHORIZER_FAILURE: failed("the gateway's authorizer failed", 500),
  BAD_REQUEST_BODY: { status: 400, code: "invalid_request", detail: "the gateway refuses the body" },
  BAD_REQUEST_PARAMETERS: {
    status: 400,
    code: "invalid_request",
    detail: "the gateway refuses the parameters",
  },
  EXPIRED_TOKEN: forbidden("the credentials have expired; renew them and sign again"),
  INTEGRATION_FAILURE: failed("the function failed, or is not reached", 504),
  INTEGRATION_TIMEOUT: failed("the function did not answer in 29 s", 504),
  INVALID_API_KEY: forbidden(`the API key is none; ${UNSIGNED}`),
  INVALID_SIGNATURE: forbidden(`the signature is not that of this request; ${UNSIGNED}`),
  MISSING_AUTHENTICATION_TOKEN: forbidden(`the request is not signed, or has no route; ${UNSIGNED}`),
  QUOTA_EXCEEDED: busy("the caller's quota is used up; nothing was done"),
  REQUEST_TOO_LARGE: { status: 413, code: "body_too_large", detail: TOO_LARGE },
  RESOURCE_NOT_FOUND: {
    status: 404,
    code: "route_not_found",
    detail: "there is no such route; GET /v1/openapi.json lists what there is",
  },
  THROTTLED: busy("more requests a second than the gateway lets through; nothing was done"),
  UNAUTHORIZED: { status: 401, code: "forbidden", detail: `the caller is not known; ${UNSIGNED}` },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    code: "unsupported_media_type",
    detail: "the gateway does not take this Content-Type; nothing was done",
  },
  WAF_FILTERED: forbidden("a firewall rule of this deployment refuses the request"),
  DEFAULT_4XX: { code: "invalid_request", detail: "the gateway refuses the request; nothing was done" },
  DEFAULT_5XX: failed("the gateway met an error, or the function's answer is none"),
};

export function addGatewayProblems(api: RestApi, allowedOrigins: readonly string[]): void {
  for (const [name, problem] of Object.entries(problems)) {
    api.addGatewayResponse(name, responseOf(name, problem, Stack.of(api).region, allowedOrigins));
  }
}

function responseOf(
  name: string,
  problem: GatewayProblem,
  region: string,
  allowedOrigins: readonly string[],
): GatewayResponseOptions {
  const { status, code, detail, retryAfterMs, mayHaveRun = false } = problem;
  const document = {
    type: `urn:fenceline:problem:${code}`,
    title: titleOf(code),
    ...(status === undefined ? {} : { status }),
    detail: `${detail}.`,
    instance: "urn:uuid:$context.requestId",
    code,
    retryable: retryAfterMs !== undefined,
    side_effects: mayHaveRun ? "possible" : "none",
    region,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    gateway_response: name,
  };
  return {
    type: ResponseType.of(name),
    ...(status === undefined ? {} : { statusCode: String(status) }),
    responseHeaders: {
      "Content-Type": "'application/problem+json'",
      "Request-Id": "context.requestId",
      "Log-Region": `'${region}'`,
      ...(retryAfterMs === undefined ? {} : { "Retry-After": `'${Math.ceil(retryAfterMs / 1_000)}'` }),
      ...corsHeaders(allowedOrigins),
    },
    // Under the type that the gateway takes when the caller accepts none of those that are listed.
    templates: { "application/json": JSON.stringify(document) },
  };
}
