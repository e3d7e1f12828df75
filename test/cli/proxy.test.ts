/**
 * HTTP_PROXY, HTTPS_PROXY, NO_PROXY: which hosts are asked by a proxy, and that it works or is refused with a word.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterEach, describe, expect, test, vi } from "vitest";
import { proxyFor } from "../../lib/cli/proxy-choice.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { COMMAND } from "../command-file.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { run } from "./run-command.ts";

const PROXY = "http://proxy.test:3128";

describe("the proxy of an address", () => {
  test.each([
    ["http://region.test", { HTTP_PROXY: PROXY }, true],
    ["https://region.test", { HTTP_PROXY: PROXY }, false],
    ["https://region.test", { HTTPS_PROXY: PROXY }, true],
    ["http://region.test", { HTTPS_PROXY: PROXY }, false],
    ["http://region.test", { http_proxy: PROXY }, true],
    ["http://region.test", { http_proxy: "", HTTP_PROXY: PROXY }, false],
    ["http://region.test", { HTTP_PROXY: " " }, false],
    ["http://127.0.0.1:4701", { HTTP_PROXY: PROXY }, false],
    ["http://127.9.9.9:4701", { HTTP_PROXY: PROXY }, false],
    ["http://localhost:4701", { HTTP_PROXY: PROXY }, false],
    ["http://[::1]:4701", { HTTP_PROXY: PROXY }, false],
    ["http://localhost.test:4701", { HTTP_PROXY: PROXY }, true],
    ["http://127.test:4701", { HTTP_PROXY: PROXY }, true],
    ["http://region.test", { HTTP_PROXY: PROXY, NO_PROXY: "*" }, false],
    ["http://region.test", { HTTP_PROXY: PROXY, NO_PROXY: "other, region.test" }, false],
    ["http://a.region.test", { HTTP_PROXY: PROXY, no_proxy: "region.test" }, false],
    ["http://a.region.test", { HTTP_PROXY: PROXY, NO_PROXY: ".region.test" }, false],
    ["http://a.region.test", { HTTP_PROXY: PROXY, NO_PROXY: "*.REGION.test" }, false],
    ["http://aregion.test", { HTTP_PROXY: PROXY, NO_PROXY: "region.test" }, true],
    ["http://region.test:81", { HTTP_PROXY: PROXY, NO_PROXY: "region.test:80" }, true],
    ["http://region.test", { HTTP_PROXY: PROXY, NO_PROXY: "region.test:80" }, false],
    ["https://region.test", { HTTPS_PROXY: PROXY, NO_PROXY: "region.test:443" }, false],
    ["http://[fd00::1]:80", { HTTP_PROXY: PROXY, NO_PROXY: "fd00::1" }, false],
    ["http://[fd00::1]:81", { HTTP_PROXY: PROXY, NO_PROXY: "[fd00::1]:81" }, false],
    ["http://region.test", { HTTP_PROXY: PROXY, NO_PROXY: " , ," }, true],
  ] as const)("%s with %j", (address, environment, isProxied) => {
    expect(proxyFor(address, environment)?.url.href).toBe(isProxied ? `${PROXY}/` : undefined);
  });

  test("is told who asks, and its name has no password", () => {
    const proxy = proxyFor("http://region.test", { HTTP_PROXY: "me:p%40ss%@proxy.test:3128" });
    const [, basic = ""] = proxy?.headers["proxy-authorization"]?.split(" ") ?? [];
    expect(Buffer.from(basic, "base64").toString()).toBe("me:p%40ss%");
    expect(proxy?.name).toBe("the proxy http://proxy.test:3128 (HTTP_PROXY)");
    expect(proxyFor("http://region.test", { HTTP_PROXY: PROXY })?.headers).toEqual({});
  });

  test.each(["socks5://me:secret-word@proxy.test", "ftp://secret-word@x", "http://", "me:secret-word@ x"])(
    "%j is refused with a word, and not printed",
    async (text) => {
      vi.stubEnv("HTTP_PROXY", text);
      vi.stubEnv("http_proxy", undefined);
      const { code, err } = await run(["logs", "--endpoint", "http://region.test"]);
      expect([code, err]).toEqual([2, expect.stringContaining("HTTP_PROXY has to be an HTTP proxy")]);
      expect(err).not.toContain("secret-word");
    },
  );
});

afterEach(() => void vi.unstubAllEnvs());

/** A proxy that knows one host, and what it was asked for. */
class FakeProxy implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** Of its own answers, in place of what it was asked for. */
  status: number | undefined;
  readonly #sockets = new Set<Duplex>();

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  /** Whatever host is asked for, it is this port. */
  static async open(port: number): Promise<FakeProxy> {
    const proxy = new FakeProxy(createServer(), port);
    proxy.server.on("request", (asked, response) => {
      proxy.#note(asked);
      if (proxy.status !== undefined) {
        response.writeHead(proxy.status, { "content-type": "text/html" }).end("<html>");
        return;
      }
      const { pathname, search } = new URL(asked.url ?? "");
      const { method } = asked;
      const headers = { ...asked.headers, host: `127.0.0.1:${port}` };
      const options = { host: "127.0.0.1", port, method, path: pathname + search, headers };
      const sent = request(options, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      asked.pipe(sent);
    });
    proxy.server.on("connect", (asked, socket) => {
      proxy.#note(asked);
      proxy.#sockets.add(socket.on("error", () => {}));
      if (proxy.status !== undefined) {
        socket.end(`HTTP/1.1 ${proxy.status} No\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      const there = connect(proxy.port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        there.pipe(socket).pipe(there);
      });
      proxy.#sockets.add(there.on("error", () => {}));
    });
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    return proxy;
  }

  #note({ method, url, headers }: IncomingMessage): void {
    this.asked.push(`${method} ${url}`);
    this.authorizations.push(headers["proxy-authorization"]);
  }

  get url(): string {
    return `http://me:secret-word@127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

const portOf = (url: string) => Number(new URL(url).port);

describe("an endpoint by HTTP", () => {
  test("is asked by the proxy, which is told the whole URL and who asks", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await using proxy = await FakeProxy.open(portOf(endpoint.url));
    vi.stubEnv("http_proxy", proxy.url);
    const where = ["--endpoint", "http://region.test:4701/", "--retry-for", "1"];
    expect((await run(["create", "a/b", ...where])).err).toBe("");
    expect((await run(["append", "a/b", ...where], "one\ntwo\n")).code).toBe(0);
    expect((await run(["read", "a/b", ...where])).out).toBe("one\ntwo\n");
    expect((await run(["describe", "nowhere", ...where])).code).toBe(4);
    expect(proxy.asked[0]).toBe("PUT http://region.test:4701/v1/logs/a%2Fb");
    expect(new Set(proxy.authorizations)).toEqual(
      new Set([`Basic ${Buffer.from("me:secret-word").toString("base64")}`]),
    );
  });

  test("a proxy that refuses, fails or is gone is named without its password", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await using proxy = await FakeProxy.open(portOf(endpoint.url));
    vi.stubEnv("http_proxy", proxy.url);
    const where = ["--endpoint", "http://region.test:4701", "--retry-for", "0"];
    for (const [status, wanted] of [
      [407, 1],
      [403, 1],
      [503, 5],
    ]) {
      proxy.status = status;
      const { code, err } = await run(["append", "x", ...where], "a\n");
      expect([status, code]).toEqual([status, wanted]);
      expect(err).toContain(
        `by the proxy http://127.0.0.1:${portOf(proxy.url)} (HTTP_PROXY) answered ${status}`,
      );
      expect(err).not.toContain("secret-word");
    }
    const gone = await FakeProxy.open(0);
    vi.stubEnv("http_proxy", gone.url);
    await gone[Symbol.asyncDispose]();
    const { code, err } = await run(["append", "x", ...where], "a\n");
    expect(code).toBe(5);
    expect(err).toMatch(/by the proxy http:\S+ \(HTTP_PROXY\) gave no answer .* nobody listens there/);
    expect(err).not.toContain("secret-word");
  });

  test("on this machine is asked directly, whatever the environment says", async () => {
    await using endpoint = await FaultyEndpoint.open();
    for (const name of ["HTTP_PROXY", "http_proxy"]) vi.stubEnv(name, "http://127.0.0.1:1");
    expect((await run(["create", "x", "--endpoint", endpoint.url])).code).toBe(0);
  });
});

describe.skipIf(spawnSync("openssl", ["version"]).status !== 0)("an endpoint by HTTPS", () => {
  async function region() {
    const scratch = await ScratchDirectory.make();
    const [key, cert] = [join(scratch.path, "key.pem"), join(scratch.path, "cert.pem")];
    const names = ["-subj", "/CN=region.test", "-addext", "subjectAltName=DNS:region.test"];
    const made = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
    ];
    expect(spawnSync("openssl", [...made, "-keyout", key, "-out", cert, ...names]).status).toBe(0);
    const endpoint = await FaultyEndpoint.open();
    const server = createTlsServer(
      { key: await readFile(key), cert: await readFile(cert) },
      (asked, response) => {
        const { method, url } = asked;
        const headers = { ...asked.headers, host: "127.0.0.1" };
        const options = { host: "127.0.0.1", port: portOf(endpoint.url), method, path: url, headers };
        asked.pipe(
          request(options, (answer) => {
            response.writeHead(answer.statusCode ?? 0, answer.headers);
            answer.pipe(response);
          }),
        );
      },
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = await FakeProxy.open((server.address() as AddressInfo).port);
    const close = async () => {
      await proxy[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await endpoint[Symbol.asyncDispose]();
      await scratch.remove();
    };
    const outputs = join(scratch.path, "outputs.json");
    return { proxy, endpoint, cert, outputs, [Symbol.asyncDispose]: close };
  }

  /** In a process of its own: certificates are trusted from its start on. */
  async function command(line: string, input: string, environment: Readonly<Record<string, string>>) {
    const where = line.includes("--outputs") ? [] : ["--endpoint", "https://region.test"];
    const args = [COMMAND, ...line.split(" "), ...where];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...environment } });
    child.stdin.end(input);
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const [code] = await once(child, "close");
    return { code, out, err };
  }

  test("goes through one tunnel, and the process ends when it is done", async () => {
    await using there = await region();
    const { proxy, endpoint, cert } = there;
    const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: cert };
    await endpoint.client().createLog("x", {});
    const lines = "line\n".repeat(2_500);
    const appended = await command("append x --retry-for 5", lines, environment);
    expect(appended).toMatchObject({ code: 0, out: expect.stringContaining("2,500 records") });
    expect(endpoint.bodies("x")).toHaveLength(2_500);
    expect(proxy.asked).toEqual(["CONNECT region.test:443"]);
    const read = await command("read x --limit 1", "", environment);
    expect(read).toEqual({ code: 0, out: "line\n", err: "" });
  }, 60_000);

  test("of a deployment is asked by the proxy: gateway and functions", async () => {
    await using there = await region();
    const { proxy, cert, outputs } = there;
    const one = {
      Region: "us-east-1",
      Endpoint: "https://region.test",
      AppendFunction: "a",
      ReadFunction: "r",
    };
    await writeFile(outputs, JSON.stringify({ one }));
    const aws = {
      AWS_ACCESS_KEY_ID: "AKIDTEST",
      AWS_SECRET_ACCESS_KEY: "x",
      AWS_ENDPOINT_URL: "https://region.test",
    };
    const environment = { ...aws, HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: cert };
    const line = `region list --outputs ${outputs} --region us-east-1 --retry-for 0`;
    expect((await command(line, "", environment)).code).toBe(0);
    const direct = await command(`${line} --direct`, "", environment);
    expect(direct.err).toContain("Lambda did not invoke r");
    expect(proxy.asked).toEqual(["CONNECT region.test:443", "CONNECT region.test:443"]);
    const plain = { AWS_ENDPOINT_URL: "http://region.test", HTTP_PROXY: proxy.url };
    const refused = await command(`${line} --direct`, "", { ...environment, ...plain });
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining("--direct goes by a proxy to HTTPS"),
    ]);
    expect(proxy.asked).toHaveLength(2);
  }, 60_000);

  test("a tunnel that is refused is said, and nothing is in doubt; a certificate that is not trusted, too", async () => {
    await using there = await region();
    const { proxy, cert } = there;
    const environment = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: cert };
    proxy.status = 403;
    const refused = await command("append x --retry-for 5", "a\n", environment);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/Nothing was appended.*the proxy http:\S+ \(HTTPS_PROXY\) answered 403/s);
    proxy.status = undefined;
    const distrusted = await command("logs --retry-for 0", "", { HTTPS_PROXY: proxy.url });
    expect(distrusted.code).toBe(5);
    expect(distrusted.err).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    for (const { err } of [refused, distrusted]) expect(err).not.toContain("secret-word");
  }, 60_000);
});
