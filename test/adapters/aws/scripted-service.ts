/** A service at the other end of the SDK's clients, played by a script: what an emulator never does. */
import { Readable } from "node:stream";
import type { HttpRequest } from "@smithy/types";
import { SeededRandom } from "../../sim/seeded-random.ts";

export interface ScriptedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Answers, or throws what the network throws. */
export type Script = (request: ScriptedRequest) => Promise<ScriptedReply> | ScriptedReply;

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** Its ordinal, from 0. */
  readonly number: number;
}

export class ScriptedService {
  readonly requests: ScriptedRequest[] = [];

  constructor(private readonly script: Script) {}

  /** For a client's configuration. */
  get config() {
    return {
      endpoint: "http://127.0.0.1:9",
      credentials: { accessKeyId: "x", secretAccessKey: "x" },
      requestHandler: {
        handle: async (request: HttpRequest, options?: { readonly abortSignal?: AbortSignal }) => {
          const { method, path, headers, body, query = {} } = request;
          const number = this.requests.length;
          const made = { method, path, headers, query, body: textOf(body), number };
          this.requests.push(made);
          const reply = await orAborted(options?.abortSignal, async () => await this.script(made));
          const bytes =
            typeof reply.body === "string" ? Buffer.from(reply.body) : (reply.body ?? Buffer.alloc(0));
          const length = { "content-length": String(bytes.length) };
          return {
            response: {
              statusCode: reply.status,
              headers: { ...length, ...reply.headers },
              body: Readable.from(bytes.length === 0 ? [] : [Buffer.from(bytes)]),
            },
          };
        },
        metadata: { handlerProtocol: "http/1.1" },
      },
    };
  }
}

/** Replies one after another; the last one again and again. */
export function inOrder(...replies: readonly (ScriptedReply | Error)[]): Script {
  return ({ number }) => {
    const reply = replies[Math.min(number, replies.length - 1)];
    if (reply === undefined) throw new Error("a script has a reply");
    if (reply instanceof Error) throw reply;
    return reply;
  };
}

/** Of S3: XML. */
export function s3Error(status: number, code: string): ScriptedReply {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>scripted</Message></Error>`;
  return { status, body, headers: { "content-type": "application/xml" } };
}

/** Of DynamoDB: JSON with a type. */
export function dynamoError(status: number, name: string, more: object = {}): ScriptedReply {
  const body = JSON.stringify({
    __type: `com.amazonaws.dynamodb.v20120810#${name}`,
    message: "scripted",
    ...more,
  });
  return { status, body, headers: { "content-type": "application/x-amz-json-1.0" } };
}

export function json(value: unknown): ScriptedReply {
  return {
    status: 200,
    body: JSON.stringify(value),
    headers: { "content-type": "application/x-amz-json-1.0" },
  };
}

/** As Node raises them. */
export function networkError(code: string): Error {
  return Object.assign(new Error(`scripted ${code}`), { code });
}

export function timeout(): Error {
  return Object.assign(new Error("scripted silence"), { name: "TimeoutError", code: "ETIMEDOUT" });
}

/** Time stands still and timers fire at once: pauses take no time. */
export const hurried = {
  clock: {
    nowMs: () => 0,
    monotonicMs: () => 0,
    startTimer: (_delayMs: number, fire: () => void) => {
      queueMicrotask(fire);
      return { cancel: () => undefined };
    },
  },
  random: new SeededRandom(1, "scripted"),
};

function textOf(body: unknown): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString("latin1");
  return typeof body === "string" ? body : "";
}

async function orAborted<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const abort = () => reject(Object.assign(new Error("Request aborted"), { name: "AbortError" }));
    if (signal?.aborted === true) return abort();
    signal?.addEventListener("abort", abort);
    act().then(resolve, reject);
  });
}
