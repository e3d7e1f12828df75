/**
 * An HTTP server on the loopback interface, which serves this machine and nobody else: a request for another
 * host's name, which may have been pointed at this machine, is refused. Which pages are served, if any, what
 * serves here decides.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { ApiError } from "../api/api-error.ts";
import { problemOf, problemResponse } from "../api/problem.ts";
import { FencelineError } from "../protocol/errors.ts";
import { LocalError } from "./local-error.ts";

/** Answers a request, or says that it gets no answer: its connection is then cut. */
type Serve = (request: Request, incoming: IncomingMessage) => Promise<Response | "no answer">;

interface LoopbackServerFields {
  /** What serves here, for people and in problem documents. */
  readonly name: string;
  /** 0: any free one. */
  readonly port: number;
  readonly serve: Serve;
  /** Other waits, for a test that has no time. */
  readonly waits?: typeof WAITS;
}

/** For a request to come: its headers, and all of it. Checked this often. */
const WAITS = { headersMs: 10_000, requestMs: 60_000, checkMs: 1_000 };
/** Of a request's target and headers together. Their number is not bounded: Node would drop the rest. */
const HEADER_BYTES_MAX = 16 * 1024;
/** A log's name takes up to 1.5 kB of it. */
const TARGET_BYTES_MAX = 8 * 1024;
/** Beyond them a connection is closed as soon as it is made. */
const CONNECTIONS_MAX = 1_000;

const HOST = "127.0.0.1";
const LOOPBACK_NAMES = new Set(["localhost", HOST, "[::1]"]);

/** Wait for requests in flight when the server is asked to stop. */
const CLOSE_WAIT_MS = 2_000;

export class LoopbackServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #name: string;
  /** What came on each connection, and is not answered to its end. */
  readonly #open = new WeakMap<Duplex, Set<Exchange>>();
  #port: number;

  private constructor(fields: LoopbackServerFields) {
    this.#name = fields.name;
    this.#port = fields.port;
    const listener = getRequestListener(
      async (request, { incoming }) => {
        const answer = await answered(fields, request, incoming as IncomingMessage);
        if (answer !== "no answer") return answer;
        incoming.socket.destroy();
        return new Response(null, { status: 503 });
      },
      {
        overrideGlobalObjects: false,
        errorHandler: () => malformed(fields.name, "its Host or its target is none"),
      },
    );
    const { headersMs, requestMs, checkMs } = fields.waits ?? WAITS;
    this.#server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      requireHostHeader: false, // Node's own refusal is no problem document
    });
    this.#server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#note({ request, response });
      void listener(request, response);
    });
    this.#server.maxHeadersCount = 0;
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
      refuseExpectation(fields.name, request, response),
    );
    this.#server.on("connect", ({ method }: IncomingMessage, socket: Duplex) => {
      const error = new ApiError("method_not_allowed", "CONNECT is not served here; ask for what you want");
      endWith(socket, problemOf(error, failed(fields.name, method)));
    });
    this.#server.on("clientError", (error, socket) => {
      void refuseUnread(fields.name, error, socket, [...(this.#open.get(socket) ?? [])]);
    });
  }

  #note(exchange: Exchange): void {
    const { socket } = exchange.request;
    const open = this.#open.get(socket) ?? new Set();
    this.#open.set(socket, open.add(exchange));
    exchange.response.once("close", () => open.delete(exchange));
  }

  /** Throws LocalError if the port is taken. */
  static async open(fields: LoopbackServerFields): Promise<LoopbackServer> {
    const server = new LoopbackServer(fields);
    await server.listen();
    return server;
  }

  get url(): string {
    return `http://${HOST}:${this.#port}`;
  }

  /** Listens, after a cut again on the port that it had. */
  async listen(): Promise<void> {
    if (this.#server.listening) return;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => reject(this.#cannotListen(error));
      this.#server.once("error", fail);
      this.#server.listen(this.#port, HOST, () => {
        this.#server.off("error", fail);
        resolve();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening and cuts every connection. */
  async cut(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Stops listening, waits a little for requests in flight, then cuts what is left. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const cut = setTimeout(() => this.#server.closeAllConnections(), CLOSE_WAIT_MS);
    await closed;
    clearTimeout(cut);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #cannotListen(error: NodeJS.ErrnoException): LocalError {
    if (error.code !== "EADDRINUSE") return new LocalError(`port ${this.#port}: ${error.message}`);
    return new LocalError(
      `port ${this.#port}, for ${this.#name}, is in use. Another fenceline local may run: stop it, ` +
        "or choose other ports with --port (0 takes any free ones).",
    );
  }
}

async function answered(
  fields: LoopbackServerFields,
  request: Request,
  incoming: IncomingMessage,
): Promise<Response | "no answer"> {
  if ((incoming.url ?? "").length > TARGET_BYTES_MAX) {
    return problemResponse(targetTooLong(), failed(fields.name, incoming.method));
  }
  const fault = hostFault(incoming);
  return fault === undefined ? await fields.serve(request, incoming) : malformed(fields.name, fault);
}

/** What is wrong with the host that a request is for, which its target may name, too (RFC 9112, 3.2). */
function hostFault({ headers: { host }, rawHeaders, url = "/" }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length !== 1) return `it has ${hosts.length} Host headers, and must have one`;
  const named = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (named !== undefined && named.toLowerCase() !== host?.toLowerCase()) {
    return `its target is of ${JSON.stringify(named)}, and its Host ${JSON.stringify(host)} is another`;
  }
  if (isLoopback(host)) return undefined;
  return `its Host ${JSON.stringify(host)} is not this machine; use localhost or ${HOST}`;
}

function isLoopback(authority: string | undefined): boolean {
  return LOOPBACK_NAMES.has((authority ?? "").replace(/:\d+$/, "").toLowerCase());
}

function malformed(name: string, fault: string): Response {
  return problemResponse(malformedError(fault), failed(name));
}

/** Of an Expect header that is not 100-continue, which Node itself answers. */
function refuseExpectation(name: string, request: IncomingMessage, response: ServerResponse): void {
  const given = JSON.stringify(request.headers.expect ?? "");
  const error = new ApiError(
    "expectation_failed",
    `Expect: ${given} cannot be met; this server knows 100-continue alone. Leave the header out.`,
  );
  const problem = problemOf(error, failed(name, request.method));
  const body = Buffer.from(JSON.stringify(problem));
  const headers = { "content-type": "application/problem+json", "content-length": body.length };
  response.writeHead(problem.status, { ...headers, connection: "close" }).end(body);
}

/** What Node says of a request that did not come to be one, or not to its end. */
interface ClientError extends Error {
  readonly code?: string;
  /** What was being parsed. */
  readonly rawPacket?: Buffer;
}

/** A request, and the answer that it gets. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Its answer is written by hand. `open`: requests on this connection that are not answered to their end. If
 * some came whole before, they are answered and the connection is closed: what was said of this one would
 * be taken for the answer to the first.
 */
async function refuseUnread(
  name: string,
  error: ClientError,
  socket: Duplex,
  open: readonly Exchange[],
): Promise<void> {
  const before = open.filter(({ request, response }) => request.complete && !response.writableFinished);
  await Promise.all(before.map(({ response }) => new Promise((resolve) => response.once("close", resolve))));
  // Behind half an answer, another would be taken for its other half.
  const isAmid = open.some(({ response }) => response.headersSent && !response.writableFinished);
  if (!socket.writable || isAmid || before.length > 0) {
    socket.destroy();
    return;
  }
  endWith(socket, problemOf(unreadError(error), failed(name)));
}

/** Writes an answer by hand, the last one of the connection. */
function endWith(socket: Duplex, problem: ReturnType<typeof problemOf>): void {
  const text = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\nConnection: close\r\n` +
      "Content-Type: application/problem+json\r\n" +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

function unreadError({ code, message, rawPacket }: ClientError): FencelineError | ApiError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return isTargetTooLong(rawPacket) ? targetTooLong() : headersTooLarge();
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new ApiError(
        "body_too_large",
        "the extensions of the body's chunks are too long, and nothing was done; leave them out",
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError(
        "request_timeout",
        `a request's headers must come within ${WAITS.headersMs / 1_000} s and all of it within ` +
          `${WAITS.requestMs / 1_000} s; this one did not, and nothing was done. Send less at a time.`,
      );
    default:
      return malformedError(`it is not HTTP/1.1: ${message}`);
  }
}

/** Whether the request line alone was too long, as far as its beginning is still there. */
function isTargetTooLong(packet: Buffer = Buffer.alloc(0)): boolean {
  const target = /^[A-Z]{1,20} (\S*)/.exec(packet.toString("latin1"))?.[1] ?? "";
  return target.length > TARGET_BYTES_MAX;
}

function targetTooLong(): ApiError {
  const detail = `the request's target is longer than ${TARGET_BYTES_MAX} bytes, and nothing was done`;
  return new ApiError("uri_too_long", detail, { limit_bytes: TARGET_BYTES_MAX });
}

function headersTooLarge(): ApiError {
  const detail =
    `the request's headers take more than ${HEADER_BYTES_MAX} bytes, with their target, and nothing was ` +
    "done; send fewer or shorter ones";
  return new ApiError("headers_too_large", detail, { limit_bytes: HEADER_BYTES_MAX });
}

function malformedError(fault: string): FencelineError {
  return new FencelineError("invalid_request", { message: `the request is refused: ${fault}` });
}

function failed(region: string, method = "GET") {
  return { requestId: crypto.randomUUID(), region, method };
}
