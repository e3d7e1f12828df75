/**
 * Pages in headless Chromium against an embedded cloud: one of another origin can neither append nor seal nor
 * reach the control endpoint, whatever it sends; one whose origin is named reads and appends. Skipped, with a
 * word, where there is no Chromium (Debian's package `chromium`).
 *
 *     node --import tsx test/e2e/pages.ts
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AllowedOrigins } from "../../lib/api/origins.ts";
import { LogClient } from "../../lib/client/log-client.ts";
import { EmbeddedCloud } from "../../lib/local/embedded-cloud.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";

const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const PAGE_PATIENCE_MS = 60_000;
const run = promisify(execFile);

/** What the page tried, and what it saw of it. */
type Seen = Readonly<Record<string, string>>;

/** The page: everything that a script may try, and what it sees written where the browser prints it. */
const page = (api: string, control: string) => `<!doctype html><pre id="seen"></pre><script>
const api = ${JSON.stringify(api)}, control = ${JSON.stringify(control)}, seen = {};
const records = api + "/v1/logs/orders/records";
const attempt = async (name, url, init) => {
  try {
    const answer = await fetch(url, init);
    seen[name] = answer.type === "opaque" ? "opaque" : answer.status + " " + (await answer.text());
  } catch { seen[name] = "refused"; }
};
const blob = new Blob(["a blob"], { type: "text/plain" });
const json = { "content-type": "application/json" };
const form = document.createElement("form");
Object.assign(form, { action: records, method: "post", enctype: "text/plain", target: "away" });
form.append(Object.assign(document.createElement("input"), { name: "a form" }));
const frame = Object.assign(document.createElement("iframe"), { name: "away" });
const image = new Image();
(async () => {
  await attempt("read", records);
  await attempt("append text", records, { method: "POST", body: "text" });
  await attempt("append text unseen", records, { method: "POST", mode: "no-cors", body: "unseen" });
  await attempt("append a blob unseen", records, { method: "POST", mode: "no-cors", body: blob });
  await attempt("append bytes unseen", records, { method: "POST", mode: "no-cors", body: new Uint8Array([1]) });
  await attempt("append json", records, { method: "POST", headers: json, body: '{"records":[{"body":"json"}]}' });
  navigator.sendBeacon(records, "a beacon");
  document.body.append(form, frame);
  form.submit();
  await new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
  image.src = records;
  await attempt("control", control + "/regions");
  await attempt("control unseen", control + "/regions/us-west-3?bookies=1", { method: "POST", mode: "no-cors" });
  if (location.hash === "#seal") {
    await attempt("seal", api + "/v1/logs/orders/seal", { method: "POST" });
    await attempt("seal unseen", api + "/v1/logs/orders/seal", { method: "POST", mode: "no-cors" });
    await attempt("delete", api + "/v1/logs/orders", { method: "DELETE" });
  }
  document.getElementById("seen").textContent = JSON.stringify(seen);
})();
</script>`;

class PageServer implements AsyncDisposable {
  html = "";
  readonly #server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(this.html);
  });

  async open(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function browser(): Promise<string | undefined> {
  for (const name of BROWSERS) {
    const isThere = await run(name, ["--version"]).then(
      () => true,
      () => false,
    );
    if (isThere) return name;
  }
  return undefined;
}

async function visit(command: string, url: string, profile: string): Promise<Seen> {
  const { stdout } = await run(
    command,
    [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
      ...["--disable-background-networking", `--user-data-dir=${profile}`, "--virtual-time-budget=20000"],
      ...["--dump-dom", url],
    ],
    { timeout: PAGE_PATIENCE_MS },
  );
  const written = /<pre id="seen">(.*?)<\/pre>/s.exec(stdout)?.[1] ?? "";
  if (written === "") throw new Error(`the page did not come to its end: ${stdout.slice(0, 500)}`);
  return JSON.parse(written.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")) as Seen;
}

function check(holds: boolean, what: string): void {
  process.stdout.write(`${holds ? "ok    " : "FAILED"} ${what}\n`);
  if (!holds) process.exitCode = 1;
}

/** A cloud with one record, visited by the page at that host; what came of it. */
async function visited(command: string, host: string, hash: string, named: boolean) {
  await using scratch = await ScratchDirectory.make();
  await using pages = new PageServer();
  const origin = `http://${host}:${await pages.open()}`;
  const allowedOrigins: AllowedOrigins = named ? [origin] : [];
  await using cloud = await EmbeddedCloud.open({
    dataDir: join(scratch.path, "data"),
    port: 0,
    allowedOrigins,
    traceLevel: "off",
    write: () => {},
  });
  const url = cloud.regions()[0]?.url ?? "";
  const client = new LogClient({ endpoint: url });
  await client.createLog("orders", {});
  await client.append("orders", { records: [{ body: "a secret" }] }, "utf8");
  pages.html = page(url, cloud.controlUrl);
  const seen = await visit(command, `${origin}/${hash}`, join(scratch.path, "profile"));
  const { state } = await client.describeLog("orders");
  const { tail } = await client.tail("orders");
  return { seen, state, tail, regions: cloud.regions() };
}

async function main(): Promise<void> {
  const command = await browser();
  if (command === undefined) {
    process.stdout.write("skipped: there is no Chromium; Debian's package is called chromium\n");
    return;
  }
  for (const host of ["localhost", "127.0.0.1"]) {
    const { seen, state, tail, regions } = await visited(command, host, "#seal", false);
    const got = Object.entries(seen).filter(([, what]) => what !== "refused" && what !== "opaque");
    check(got.length === 0, `a page of ${host} sees no answer: ${JSON.stringify(Object.keys(seen))} ${got}`);
    check(tail === 1 && state === "active", `and nothing is appended, sealed or deleted: ${tail} ${state}`);
    check(regions.length === 3, `and no region is added: ${regions.map(({ name }) => name)}`);
  }
  const { seen, tail, regions } = await visited(command, "localhost", "", true);
  check(/^200 .*a secret/s.test(seen.read ?? ""), `a page that is named reads: ${seen.read?.slice(0, 40)}`);
  check(/^200 /.test(seen["append json"] ?? ""), `and appends JSON, once it has asked`);
  // What the other pages tried in vain are requests that browsers send.
  check(tail >= 6, `and by a form, a beacon and what needs no leave: ${tail} records`);
  const control = [seen.control, seen["control unseen"]];
  check(seen.control === "refused" && regions.length === 3, `but does not control the cloud: ${control}`);
}

await main();
