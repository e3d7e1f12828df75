/**
 * One call of another Lambda function, in any region: JSON in, JSON out.
 *
 * LC1 Sent once. What is not an answer of the function's code is unknown: FunctionError, throttles, silence,
 *     a payload that cannot be read. Only what Lambda itself refused is certainly without effect.
 * LC2 A function that is not there (404) is silent like one that died: its region cannot serve. A call that
 *     this process may not make (403) is its own fault, reported loudly, and says nothing of the function.
 */
import { InvocationType, InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import type { JsonObject } from "../../formats/json-fields.ts";
import { CallDenied, FencelineError, unavailable } from "../../protocol/errors.ts";
import type { CallSignal } from "../../protocol/waiting.ts";
import { abortableCall } from "./abortable-call.ts";
import { PAYLOAD_BYTES_MAX } from "./call-envelope.ts";
import { isDenied, isThrottled, unansweredCall } from "./call-failure.ts";

export interface LambdaFunction {
  /** Of the function's region; its own retries off: `maxAttempts: 1`. */
  readonly client: LambdaClient;
  readonly name: string;
  readonly region: string;
  /** Gets each call that was denied (LC2). */
  readonly onDenied?: (denied: CallDenied) => void;
}

interface CallOptions {
  readonly signal?: CallSignal | undefined;
  /** For this call, instead of what the client waits for an answer. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Throws `unavailable`: no answer, whatever became of the call (LC1); `CallDenied` (LC2); `over_capacity`:
 * Lambda is there, and runs as many of this function as it may.
 */
export async function callFunction(
  target: LambdaFunction,
  what: string,
  payload: JsonObject,
  { signal, timeoutMs }: CallOptions = {},
): Promise<unknown> {
  const { client, name, region } = target;
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
    throw failureOf(target, where, error);
  }
}

function failureOf({ onDenied }: LambdaFunction, where: string, error: unknown): FencelineError {
  if (isThrottled(error)) {
    const message = `${where}: too many calls at once; try again`;
    return new FencelineError("over_capacity", { message, sideEffects: "none", cause: error });
  }
  const failure = unansweredCall(where, error);
  if (!isDenied(error)) return failure;
  const denied = new CallDenied(
    `${failure.message}. This function may not make the call: deploy its region again with the same ` +
      "topology, and look for what else denies it lambda:InvokeFunction",
    error,
  );
  onDenied?.(denied);
  return denied;
}
