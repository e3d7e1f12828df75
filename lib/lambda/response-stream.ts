/**
 * Answers that leave while they are being made, as API Gateway takes them from a function whose integration
 * streams: status and headers first, then the body (docs/OPERATING.md, "Streamed reads").
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ResponseTransfer } from "../environment.ts";

/** As API Gateway wants them in front of the body. */
export interface AnswerHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

export type Handler = (event: unknown) => Promise<unknown>;
export type StreamHandler = (event: unknown, stream: Writable) => Promise<void>;

/** What Lambda's own Node runtime has beside the language; others, an emulator's too, have not. */
interface StreamingRuntime {
  streamifyResponse(handler: StreamHandler): Handler;
  readonly HttpResponseStream: { from(stream: Writable, head: AnswerHead): Writable };
}

function streamingRuntime(): StreamingRuntime | undefined {
  const { awslambda } = globalThis as unknown as { readonly awslambda?: Partial<StreamingRuntime> };
  // Libraries put things of theirs there, also where the runtime has put nothing.
  return canStream(awslambda) ? awslambda : undefined;
}

function canStream(runtime: Partial<StreamingRuntime> | undefined): runtime is StreamingRuntime {
  return runtime?.streamifyResponse !== undefined && runtime.HttpResponseStream !== undefined;
}

/**
 * What Lambda is to call. The runtime looks at the exported function itself, so this is decided once, when
 * the process starts. Without a runtime that streams the answers are whole ones.
 */
export function handlerFor(transfer: ResponseTransfer, whole: Handler, streamed: StreamHandler): Handler {
  const runtime = streamingRuntime();
  return transfer === "stream" && runtime !== undefined ? runtime.streamifyResponse(streamed) : whole;
}

/** Resolves when the last byte is handed over: the process may stand still from then on. */
export async function streamAnswer(stream: Writable, answer: Response): Promise<void> {
  const runtime = streamingRuntime();
  if (runtime === undefined) throw new Error("this runtime cannot stream answers");
  const head = { statusCode: answer.status, headers: Object.fromEntries(answer.headers) };
  const body = runtime.HttpResponseStream.from(stream, head);
  body.write(""); // The head leaves with the first write, which must be, though nothing may follow it.
  if (answer.body === null) return await ended(body, "");
  await pipeline(answer.body, body);
}

/** For a caller that invoked the function itself: the answer that it would have got whole. */
export async function ended(stream: Writable, text: string): Promise<void> {
  const finished = once(stream, "finish");
  stream.write(text);
  stream.end();
  await finished;
}
