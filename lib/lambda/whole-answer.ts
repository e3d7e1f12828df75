/**
 * Answers that are given whole, within what Lambda takes of one: more it would drop, and the caller would
 * get 502 for a read that can be had in another way. Bodies travel as text within JSON, in which a control
 * character of a record takes seven bytes.
 */
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { PAYLOAD_BYTES_MAX } from "../adapters/aws/call-envelope.ts";
import { problemOf } from "../api/problem.ts";
import { FencelineError } from "../protocol/errors.ts";

/** What a UTF-16 unit of a JSON text takes at most when it is quoted once more, as UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

export function withinPayload(
  event: APIGatewayProxyEvent,
  answer: APIGatewayProxyResult,
): APIGatewayProxyResult {
  // What wrote has happened, whatever becomes of its answer, which is a small one.
  if (event.httpMethod !== "GET") return answer;
  if (answer.body.length * BYTES_PER_UNIT_MAX < PAYLOAD_BYTES_MAX) return answer;
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  if (bytes <= PAYLOAD_BYTES_MAX) return answer;
  const headers = headersOf(answer);
  const { "request-id": requestId = "", "log-region": region = "" } = headers;
  const tooLarge = new FencelineError("invalid_request", {
    message:
      `the answer takes ${bytes} bytes as text, and Lambda takes ${PAYLOAD_BYTES_MAX}; ask again with ` +
      "Log-Format: base64, or for less with bytes or count",
    details: { answer_bytes: bytes, limit_bytes: PAYLOAD_BYTES_MAX },
  });
  const problem = problemOf(tooLarge, { requestId, region, method: event.httpMethod });
  return {
    statusCode: problem.status,
    // The others are of the request, and hold for the refusal too.
    headers: { ...headers, "content-type": "application/problem+json" },
    body: JSON.stringify(problem),
    isBase64Encoded: false,
  };
}

function headersOf({ headers = {} }: APIGatewayProxyResult): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
