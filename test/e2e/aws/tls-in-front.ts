/**
 * Stands for the TLS in front of AWS: passes requests on to an emulator's plain port and says that they came by
 * TLS. Without it an emulator that enforces bucket policies rightly refuses every request that did not.
 */
import { once } from "node:events";
import { createServer, type Server, request as send } from "node:http";

export class TlsInFront implements AsyncDisposable {
  /** The port behind it. */
  target = 0;

  private constructor(private readonly server: Server) {
    server.on("request", (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const passed = send(
        {
          host: "127.0.0.1",
          port: this.target,
          method,
          path: url,
          // The host as it was signed.
          headers: { ...headers, "x-forwarded-proto": "https" },
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        },
      );
      passed.on("error", () => outgoing.destroy());
      outgoing.on("close", () => passed.destroy());
      incoming.pipe(passed);
    });
  }

  static async open(): Promise<TlsInFront> {
    const server = createServer();
    const front = new TlsInFront(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return front;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("it has no port");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}
