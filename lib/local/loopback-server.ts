/**
 * An HTTP server on the loopback interface, which serves this machine and nobody else: a request for another
 * host's name, which may have been pointed at this machine, is refused. Which pages are served, if any, what
 * serves here decides.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
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
}

const HOST = "127.0.0.1";
const LOOPBACK_NAMES = new Set(["localhost", HOST, "[::1]"]);

/** Wait for requests in flight when the server is asked to stop. */
const CLOSE_WAIT_MS = 2_000;

export class LoopbackServer {
  readonly #server: Server;
  readonly #name: string;
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
    this.#server = createServer(listener);
    // Bounded by their bytes: beyond a number of them Node would drop the rest without a word.
    this.#server.maxHeadersCount = 0;
    this.#server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
      refuseExpectation(fields.name, request, response),
    );
    this.#server.on("clientError", (error, socket) => refuseMalformed(fields.name, error, socket));
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

/** What is no HTTP at all never becomes a request; its answer is written by hand. */
function refuseMalformed(name: string, error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const problem = JSON.stringify(
    problemOf(malformedError(`it is not HTTP/1.1: ${error.message}`), failed(name)),
  );
  socket.end(
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/problem+json\r\n" +
      `Content-Length: ${Buffer.byteLength(problem)}\r\n\r\n${problem}`,
  );
}

function malformedError(fault: string): FencelineError {
  return new FencelineError("invalid_request", { message: `the request is refused: ${fault}` });
}

function failed(region: string, method = "GET") {
  return { requestId: crypto.randomUUID(), region, method };
}
