/**
 * What lies between a client and a function: octets, log names, sizes, pages of other origins, and what the
 * gateway answers by itself.
 */
import { chainCredentials } from "../../../lib/client/aws/credential-chain.ts";
import { signedSend } from "../../../lib/client/aws/signed-send.ts";
import { retrying } from "../../../lib/client/retry.ts";
import { type DeployedCloud, PAGE } from "./deployed-cloud.ts";
import { check } from "./scenario.ts";

const NAMES = ["a/b", "a%2Fb", "a%252Fb", "100%", "a+b", "a b", "a?b#c&d", "!'()*~", "日本/ログ 👍"];
const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const NO_TEXT = Uint8Array.from([0x61, 0xff, 0xfe, 0x80, 0x0a, 0xc3, 0x28, 0x0d, 0x0a]);
const patience = { patienceMs: 60_000 };

export async function proveEdges(cloud: DeployedCloud, region: string): Promise<void> {
  const { endpoint } = cloud.region(region);
  const signed = signedSend({ region, credentials: chainCredentials(region) });
  const client = cloud.client(region);

  const post = (type: string, body: Uint8Array) =>
    signed(`${endpoint}/v1/logs/octets/records`, {
      method: "POST",
      headers: { "content-type": type },
      // Signed and sent as they are: the client's own bodies are all JSON.
      body: body as unknown as string,
      signal: AbortSignal.timeout(60_000),
    });

  async function octets(): Promise<void> {
    await retrying(patience, client, (one) => one.createLog("octets", {}));
    const bad = Buffer.concat([Buffer.from('{"records":[{"body":"'), NO_TEXT, Buffer.from('"}]}')]);
    const refused = await post("application/json", bad);
    check(refused.status === 400, "JSON that is no UTF-8 is refused with 400", await refused.text());
    for (const [type, bytes] of [
      ["application/octet-stream", EVERY_BYTE],
      ["text/plain", NO_TEXT],
      ["application/x-ndjson", NO_TEXT],
    ] as const) {
      const { status } = await post(type, bytes);
      check(status === 200, `${type} is appended`, status);
    }
    const page = await retrying(patience, client, (one) => one.read("octets", { from: 0, format: "base64" }));
    const lines = [NO_TEXT.subarray(0, 4), NO_TEXT.subarray(5, 8)];
    const wanted = [EVERY_BYTE, ...lines, ...lines].map((one) => Buffer.from(one).toString("base64"));
    const found = page.records.map(({ body }) => body);
    check(JSON.stringify(found) === JSON.stringify(wanted), "octets are read as they were sent", found);
  }

  /** By events as AWS documents them where an emulator's gateway decodes paths, which AWS's does not. */
  async function names(): Promise<void> {
    const isEncoded = await client.createLog("a b", {}).then(
      () => true,
      () => false,
    );
    if (!isEncoded) {
      process.stdout.write("   NOT TESTED: names behind this gateway, which decodes paths; AWS's does not\n");
    }
    const asked = isEncoded ? client : await cloud.directClient(region);
    for (const name of NAMES) {
      const { log } = await retrying(patience, asked, (one) => one.createLog(name, {}));
      check(log.log === name, `${name} is a log of its own`, log);
      const described = await retrying(patience, asked, (one) => one.describeLog(name));
      check(described.log === name, `${name} is found by its name`, described);
    }
  }

  async function tooLarge(): Promise<void> {
    const answer = await fetch(`${endpoint}/v1/logs/octets/records`, {
      method: "POST",
      body: new Uint8Array(11 << 20),
    });
    await problemIn(answer, "a request that is too large, or not signed");
  }

  async function pages(): Promise<void> {
    const url = `${endpoint}/v1/logs/octets/records`;
    const asked = { "access-control-request-method": "POST", origin: PAGE };
    const preflight = await fetch(url, { method: "OPTIONS", headers: asked });
    const allowed = preflight.headers.get("access-control-allow-origin");
    check(preflight.status === 204 && allowed === PAGE, "a preflight is answered unsigned", [
      preflight.status,
      allowed,
    ]);
    const unsigned = await fetch(url, { headers: { origin: PAGE } });
    check(unsigned.headers.get("access-control-allow-origin") === PAGE, "the page may read a refusal");
    await problemIn(unsigned, "an unsigned request");
    const read = (origin: string) =>
      signed(`${endpoint}/v1/regions`, {
        method: "GET",
        headers: { origin },
        signal: AbortSignal.timeout(60_000),
      });
    const served = await read(PAGE);
    check(
      served.status === 200 && served.headers.get("access-control-allow-origin") === PAGE,
      "a page of a named origin that signs is served",
      served.status,
    );
    const { status } = await read("https://other.example");
    check(status === 403, "a page of another origin is refused, though it signs", status);
  }

  await octets();
  await names();
  await tooLarge();
  await pages();
}

async function problemIn(answer: Response, what: string): Promise<void> {
  const text = await answer.text();
  const type = answer.headers.get("content-type");
  check(type === "application/problem+json", `${what} gets a problem document`, [answer.status, type, text]);
  const { code, detail, status } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  check(
    status === answer.status && typeof code === "string" && typeof detail === "string",
    `${what}: it is one`,
    text,
  );
}
