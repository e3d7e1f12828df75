/** Requests to a deployed REST API, signed with AWS Signature Version 4. */
import { createHash, createHmac, type Hash } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { NotSentError } from "../client-errors.ts";
import type { SendHttp } from "../http-words.ts";
import type { CredentialSource } from "./credential-chain.ts";
import { refuseTooLarge } from "./payload-limit.ts";

interface SigningFields {
  readonly region: string;
  readonly credentials: CredentialSource;
  /** How it gets there when it is signed; `fetch` if absent. */
  readonly send?: SendHttp;
}

/** What an API Gateway API is signed for. */
const SERVICE = "execute-api";

/** Signed for a region that the address is not in: AWS would refuse it as forged, so it is not sent. */
class WrongRegionError extends NotSentError {
  override readonly name = "WrongRegionError";
}

export function signedSend({ region, credentials, send = fetch }: SigningFields): SendHttp {
  const signer = new SignatureV4({ service: SERVICE, region, credentials, sha256: Sha256 });
  return async (address, request) => {
    const url = new URL(address);
    refuseElsewhere(url.hostname, region);
    // The gateway hands the body on in base 64.
    refuseTooLarge(4 * Math.ceil(Buffer.byteLength(request.body ?? "") / 3), request.method);
    // Spelled as it is signed: a space as %20, since "+" may be taken for itself.
    url.search = url.search.replaceAll("+", "%20");
    const signed = await signer.sign({
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port === "" ? {} : { port: Number(url.port) }),
      path: url.pathname,
      query: queryOf(url.searchParams),
      headers: { ...request.headers, host: url.host },
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    return await send(url.href, { ...request, headers: signed.headers });
  };
}

/** Each name with all of its values. */
function queryOf(given: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...new Set(given.keys())].map((name) => [name, given.getAll(name)]));
}

/** Only AWS's own names of APIs say their region; a domain of one's own, or an emulator's, does not. */
function refuseElsewhere(hostname: string, region: string): void {
  const [, there] = /^[^.]+\.execute-api\.([^.]+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname) ?? [];
  if (there === undefined || there === region) return;
  throw new WrongRegionError(
    `${hostname} is in ${there}, and requests to it would be signed for ${region}, which AWS refuses: sign ` +
      `for ${there}, or ask the endpoint of ${region}`,
  );
}

/** Node's SHA-256 in the shape that the signer asks for. */
class Sha256 {
  readonly #secret: Uint8Array | undefined;
  #hash: Hash | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret);
    this.#hash = this.#begun();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#begun();
  }

  #begun(): Hash | ReturnType<typeof createHmac> {
    return this.#secret === undefined ? createHash("sha256") : createHmac("sha256", this.#secret);
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, "utf8");
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return new Uint8Array(data);
}
