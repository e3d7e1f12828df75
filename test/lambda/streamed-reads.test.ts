/**
 * Reads whose answers leave as they are made. Lambda's runtime is played by what it is known to do: the head
 * goes in front of the first bytes, eight zero bytes behind it.
 */
import { PassThrough, type Writable } from "node:stream";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { afterEach, describe, expect, it, vi } from "vitest";
import { answerHttp, httpAnswer, isOfGateway } from "../../lib/lambda/http-requests.ts";
import { ReadFunction } from "../../lib/lambda/read-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";
import {
  type AnswerHead,
  ended,
  type Handler,
  handlerFor,
  type StreamHandler,
  streamAnswer,
} from "../../lib/lambda/response-stream.ts";
import { apiUnderTest } from "../api/api-under-test.ts";
import { oneRegion } from "./one-region.ts";

const settings = { ...oneRegion, reads: "stream" } as const;
const MB = 1_024 * 1_024;
/** What Lambda takes of an answer that is given whole. */
const WHOLE_BYTES_MAX = 6 * MB;
const HEAD_END = Buffer.alloc(8);

afterEach(() => vi.unstubAllGlobals());

/** The runtime's own part; `marked` holds the handlers that it was asked to stream. */
function playRuntime() {
  const marked: StreamHandler[] = [];
  vi.stubGlobal("awslambda", {
    streamifyResponse: (handler: StreamHandler): Handler => {
      marked.push(handler);
      return async () => "streamed";
    },
    HttpResponseStream: {
      from: (stream: Writable, head: AnswerHead) => {
        const write = stream.write.bind(stream);
        let isFirst = true;
        stream.write = ((...given: Parameters<Writable["write"]>) => {
          if (isFirst) write(Buffer.concat([Buffer.from(JSON.stringify(head)), HEAD_END]));
          isFirst = false;
          return write(...given);
        }) as Writable["write"];
        return stream;
      },
    },
  });
  return marked;
}

/** Everything that went into a stream, while it goes in. */
function receiver() {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const all = () => Buffer.concat(chunks);
  const parts = () => {
    const at = all().indexOf(HEAD_END);
    const head = JSON.parse(all().subarray(0, at).toString()) as AnswerHead;
    return { head, body: all().subarray(at + HEAD_END.length) };
  };
  return { stream, all, parts };
}

function event(method: string, path: string, more: object = {}): APIGatewayProxyEvent {
  return {
    httpMethod: method,
    path,
    headers: { "content-type": "application/json" },
    queryStringParameters: null,
    requestContext: { domainName: "api", apiId: "a1" },
    body: null,
    isBase64Encoded: false,
    ...more,
  } as unknown as APIGatewayProxyEvent;
}

describe("what Lambda is to call", () => {
  const [whole, streamed] = [async () => "whole", async () => undefined];

  it("streams if the deployment says so and the runtime can", async () => {
    const marked = playRuntime();
    expect(await handlerFor("stream", whole, streamed)({})).toBe("streamed");
    expect(marked).toEqual([streamed]);
  });

  it("gives whole answers otherwise: by default, and where an emulator's runtime cannot", async () => {
    vi.stubGlobal("awslambda", undefined);
    expect(handlerFor("stream", whole, streamed)).toBe(whole);
    vi.stubGlobal("awslambda", { InvokeStore: {} }); // as a library leaves it
    expect(handlerFor("stream", whole, streamed)).toBe(whole);
    const marked = playRuntime();
    expect(handlerFor("buffered", whole, streamed)).toBe(whole);
    expect(marked).toEqual([]);
  });
});

describe("a streamed answer", () => {
  it("is the whole answer's status, headers and bytes, head first", async () => {
    playRuntime();
    const { api } = apiUnderTest();
    await answerHttp(api, "here")(event("PUT", "/v1/logs/a%2Fb", { body: "{}" }));
    for (const path of ["/v1/logs/a%2Fb", "/v1/logs/a%2Fb/records", "/v1/nothing", "/v1/logs/%2e%2e"]) {
      const whole = await answerHttp(api, "here")(event("GET", path));
      const { stream, parts } = receiver();
      await streamAnswer(stream, await httpAnswer(api, "here", event("GET", path)));
      const { head, body } = parts();
      expect(head.statusCode).toBe(whole.statusCode);
      expect(Object.keys(head.headers).sort()).toEqual(Object.keys(whole.headers ?? {}).sort());
      expect(withoutIds(body.toString())).toEqual(withoutIds(whole.body));
    }
  });

  it("leaves while it is made: the first bytes are there before the last", async () => {
    playRuntime();
    const { stream, parts } = receiver();
    let goOn: (() => void) | undefined;
    const made = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(Buffer.from("first"));
        goOn = () => {
          controller.enqueue(Buffer.from(" last"));
          controller.close();
        };
      },
    });
    const sending = streamAnswer(stream, new Response(made, { status: 206, headers: { "x-one": "1" } }));
    await vi.waitFor(() => expect(parts().body.toString()).toBe("first"));
    expect(parts().head).toEqual({ statusCode: 206, headers: { "x-one": "1" } });
    goOn?.();
    await sending;
    expect(parts().body.toString()).toBe("first last");
    expect(stream.writableFinished).toBe(true);
  });

  it("without a body has its head all the same", async () => {
    playRuntime();
    for (const answer of [new Response(null, { status: 204 }), new Response("", { status: 200 })]) {
      const { stream, parts } = receiver();
      await streamAnswer(stream, answer);
      expect(parts()).toMatchObject({ head: { statusCode: answer.status }, body: Buffer.alloc(0) });
      expect(stream.writableFinished).toBe(true);
    }
  });

  it("that breaks off is no answer: whoever waits for its end is told", async () => {
    playRuntime();
    const { stream } = receiver();
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("broken")) });
    await expect(streamAnswer(stream, new Response(broken))).rejects.toThrow("broken");
  });
});

describe("a read of 1 MiB of control characters, which are six characters each in JSON", () => {
  async function wide() {
    const { api } = apiUnderTest();
    const answer = answerHttp(api, "here");
    await answer(event("PUT", "/v1/logs/wide", { body: "{}" }));
    const records = Array.from({ length: 16 }, () => ({ body: "\u0001".repeat(MB / 16 - 64) }));
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ records });
    const appended = await answer(event("POST", "/v1/logs/wide/records", { headers, body }));
    expect(appended.statusCode).toBe(200);
    const read = (more: object = {}) => event("GET", "/v1/logs/wide/records", more);
    return { api, answer, read };
  }

  it("streamed, is larger than Lambda takes whole", async () => {
    playRuntime();
    const { api, read } = await wide();
    const { stream, parts } = receiver();
    await streamAnswer(stream, await httpAnswer(api, "here", read()));
    expect(parts().head.statusCode).toBe(200);
    const text = parts().body.toString();
    expect(JSON.parse(text).records).toHaveLength(16);
    expect(Buffer.byteLength(JSON.stringify({ body: text }))).toBeGreaterThan(WHOLE_BYTES_MAX);
  });

  it("whole, is refused with what to ask instead, and each of these is answered", async () => {
    const { answer, read } = await wide();
    const refused = await answer(read());
    expect(refused).toMatchObject({
      statusCode: 400,
      headers: { "content-type": "application/problem+json", "log-region": expect.any(String) },
    });
    expect(JSON.parse(refused.body)).toMatchObject({
      code: "invalid_request",
      retryable: false,
      side_effects: "none",
      limit_bytes: WHOLE_BYTES_MAX,
      detail: expect.stringContaining("Log-Format: base64"),
    });
    const asBase64 = await answer(read({ headers: { "log-format": "base64" } }));
    expect(JSON.parse(asBase64.body).records).toHaveLength(16);
    const fewer = await answer(read({ queryStringParameters: { count: "8" } }));
    expect(JSON.parse(fewer.body).records).toHaveLength(8);
  });
});

describe("the read function", () => {
  function reader() {
    const world = regionWorld(settings, { region: "us-east-1", stage: "read" });
    vi.spyOn(world.trace, "flush").mockImplementation(() => undefined);
    return { world, read: new ReadFunction(world) };
  }
  const path = "/v1/openapi.json";

  it("streams to a gateway, and tells its metrics when all has left", async () => {
    playRuntime();
    const { world, read } = reader();
    const { stream, parts } = receiver();
    await read.stream(event("GET", path), stream);
    expect(parts().head.statusCode).toBe(200);
    expect(JSON.parse(parts().body.toString())).toHaveProperty("openapi");
    expect(world.trace.flush).toHaveBeenCalledTimes(1);
  });

  it("gives whoever invokes it itself what it would have been given without streaming", async () => {
    playRuntime();
    const { read } = reader();
    const direct = event("GET", path, { requestContext: { stage: "direct" } });
    const { stream, all } = receiver();
    await read.stream(direct, stream);
    const told = JSON.parse(all().toString());
    expect(told).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    expect(told.body).toBe(((await read.serve(direct)) as APIGatewayProxyResult).body);
  });
});

describe("whoever invokes the function itself", () => {
  it("is told from a gateway by what only a gateway writes", () => {
    expect(isOfGateway(event("GET", "/"))).toBe(true);
    expect(isOfGateway(event("GET", "/", { requestContext: { stage: "direct" } }))).toBe(false);
  });

  it("is given what a whole answer is, and nothing in front of it", async () => {
    const { stream, all } = receiver();
    await ended(stream, JSON.stringify({ statusCode: 200, body: "{}" }));
    expect(JSON.parse(all().toString())).toEqual({ statusCode: 200, body: "{}" });
    expect(stream.writableFinished).toBe(true);
  });
});

function withoutIds(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id");
}
