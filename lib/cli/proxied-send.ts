/** Requests by an HTTP proxy, which Node's own `fetch` knows nothing of before Node 24. */
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https, { type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";
import { RequestError } from "../client/client-errors.ts";
import { foreignAnswer, retryAfterMsOf } from "../client/foreign-answer.ts";
import type { HttpRequest, SendHttp } from "../client/http-words.ts";
import { type ChosenProxy, proxyFor } from "./proxy-choice.ts";

/** How an endpoint is asked, and what messages call it. Throws UsageError. */
export function wayTo(endpoint: string): { readonly send?: SendHttp; readonly asked?: string } {
  const proxy = proxyFor(endpoint);
  return proxy === undefined ? {} : { send: proxiedSend(proxy), asked: `${endpoint} by ${proxy.name}` };
}

/** As `fetch`. HTTPS goes through a tunnel, and HTTP as a request for a whole URL. */
function proxiedSend(proxy: ChosenProxy): SendHttp {
  const tunnels = new TunnelAgent(proxy);
  return async (address, request) => {
    try {
      return await answerBy(proxy, tunnels, new URL(address), request);
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof RequestError) throw error;
      throw new TypeError("fetch failed", { cause: error });
    }
  };
}

async function answerBy(
  proxy: ChosenProxy,
  tunnels: TunnelAgent,
  url: URL,
  request: HttpRequest,
): Promise<Response> {
  const { method, signal, body } = request;
  const headers = { ...request.headers, host: url.host };
  const sent =
    url.protocol === "https:"
      ? https.request(url, { method, headers, signal, agent: tunnels })
      : requestTo(proxy, { method, headers: { ...headers, ...proxy.headers }, signal, path: url.href });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  sent.on("error", () => {}); // The answer meets it.
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return new Response(chunks.length === 0 ? null : Buffer.concat(chunks), {
    status: response.statusCode ?? 0,
    headers: headersOf(response),
  });
}

function requestTo({ url }: ChosenProxy, options: Parameters<typeof http.request>[1]) {
  const { protocol, hostname, port } = url;
  const send = protocol === "https:" ? https.request : http.request;
  return send({ ...options, protocol, hostname: hostname.replace(/^\[|\]$/g, ""), port });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

/** Wait for a proxy to open a tunnel. */
const TUNNEL_MS = 10_000;

/** Keeps tunnels, each to one host, with TLS inside. */
export class TunnelAgent extends https.Agent {
  constructor(private readonly proxy: ChosenProxy) {
    super({ keepAlive: true });
  }

  override createConnection(
    options: RequestOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const failed = callback as (error: Error) => void;
    const host = options.host?.includes(":") ? `[${options.host}]` : options.host;
    this.#tunnel(`${host}:${options.port}`).then((socket) => {
      const inside: RequestOptions & { readonly socket: Duplex } = { ...options, socket };
      callback(null, super.createConnection(inside) as Duplex);
    }, failed);
  }

  /** Throws RequestError if the proxy refuses, or what the network says. */
  async #tunnel(authority: string): Promise<Duplex> {
    const headers = { host: authority, ...this.proxy.headers };
    const sent = requestTo(this.proxy, { method: "CONNECT", path: authority, headers, agent: false });
    const silence = Object.assign(new Error("no tunnel"), { code: "UND_ERR_CONNECT_TIMEOUT" });
    const timer = setTimeout(() => sent.destroy(silence), TUNNEL_MS);
    sent.end();
    const [response, socket] = (await once(sent, "connect").finally(() => clearTimeout(timer))) as [
      IncomingMessage,
      Duplex,
    ];
    const { statusCode: status = 0 } = response;
    if (status >= 200 && status < 300) return socket;
    socket.destroy();
    const answer = headersOf(response);
    throw foreignAnswer(this.proxy.name, {
      status,
      type: answer.get("content-type") ?? "",
      effects: "none", // Nothing was sent yet.
      retryAfterMs: retryAfterMsOf(answer),
      location: undefined,
    });
  }
}
