/**
 * One call of another Lambda function, in any region: JSON in, JSON out.
 *
 * L1 Sent once. What is not an answer of the function's code is unknown: FunctionError, throttles, silence, a
 *    payload that cannot be read. Only what Lambda itself refused is certainly without effect.
 */
import { InvocationType, InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import type { JsonObject } from "../../formats/json-fields.ts";
import type { CallSignal } from "../../protocol/call-abort.ts";
import { FencelineError, unavailable } from "../../protocol/errors.ts";
import { abortableCall } from "./abortable-call.ts";
import { PAYLOAD_BYTES_MAX } from "./call-envelope.ts";
import { isThrottled, unansweredCall } from "./call-failure.ts";

export interface LambdaFunction {
  /** Of the function's region; its own retries off: `maxAttempts: 1`. */
  readonly client: LambdaClient;
  readonly name: string;
  readonly region: string;
}

export interface CallOptions {
  readonly signal?: CallSignal | undefined;
  /** For this call, instead of what the client waits for an answer. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Throws `unavailable`: no answer, whatever became of the call (L1); `over_capacity`: Lambda is there, and
 * runs as many of this function as it may.
 */
export async function callFunction(
  { client, name, region }: LambdaFunction,
  what: string,
  payload: JsonObject,
  { signal, timeoutMs }: CallOptions = {},
): Promise<unknown> {
  const where = `${name} in ${region}: ${what}`;
  const bytes = Buffer.from(JSON.stringify(payload));
  if (bytes.length > PAYLOAD_BYTES_MAX) {
    const message = `${where}: ${bytes.length} bytes, Lambda takes ${PAYLOAD_BYTES_MAX}; send less at a time`;
    throw new FencelineError("unavailable", { message, sideEffects: "none", retryable: false });
  }
  try {
    const command = new InvokeCommand({
      FunctionName: name,
      InvocationType: InvocationType.RequestResponse,
      Payload: bytes,
    });
    const answer = await abortableCall(signal, where, (options) =>
      client.send(command, { ...options, ...(timeoutMs === undefined ? {} : { requestTimeout: timeoutMs }) }),
    );
    const text = answer.Payload === undefined ? "" : Buffer.from(answer.Payload).toString();
    if (answer.FunctionError !== undefined) {
      throw unavailable(`${where}: it failed (${answer.FunctionError}): ${text.slice(0, 300)}`);
    }
    return JSON.parse(text);
  } catch (error) {
    if (isThrottled(error)) {
      const message = `${where}: too many calls at once; try again`;
      throw new FencelineError("over_capacity", { message, sideEffects: "none", cause: error });
    }
    throw unansweredCall(where, error);
  }
}
