/**
 * The proxy that the environment names for an address: HTTP_PROXY or HTTPS_PROXY by its scheme, unless
 * NO_PROXY exempts it, each in small letters first. This machine itself is never asked by a proxy.
 */
import { UsageError } from "./exit-codes.ts";

export interface ChosenProxy {
  readonly url: URL;
  /** Says who asks, if the variable has a user. */
  readonly headers: Readonly<Record<string, string>>;
  /** For people: neither user nor password. */
  readonly name: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined: it is asked directly. Throws UsageError, in which no password is. */
export function proxyFor(address: string, environment: Environment = process.env): ChosenProxy | undefined {
  const url = new URL(address);
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const text = variable(environment, name).trim();
  if (text === "" || isThisMachine(url) || isExempt(url, variable(environment, "NO_PROXY"))) return undefined;
  return proxyOf(name, text);
}

function variable(environment: Environment, name: string): string {
  return environment[name.toLowerCase()] ?? environment[name] ?? "";
}

function proxyOf(variableName: string, text: string): ChosenProxy {
  const full = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(
      `${variableName} has to be an HTTP proxy, such as http://proxy.example:3128; with another one, or none, ` +
        "name the endpoint's host in NO_PROXY",
    );
  }
  const { username, password, origin } = url;
  const named = [username, password].map(decoded).join(":");
  const basic = `Basic ${Buffer.from(named).toString("base64")}`;
  return {
    url,
    headers: named === ":" ? {} : { "proxy-authorization": basic },
    name: `the proxy ${origin} (${variableName})`,
  };
}

/** A lone "%" stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isThisMachine({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Entries are hosts, also of what lies below them, with a port or without; "*" is all. */
function isExempt(url: URL, entries: string): boolean {
  const port = url.port === "" ? DEFAULT_PORTS[url.protocol] : url.port;
  const host = bare(url.hostname);
  return entries.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, named = "", only] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [undefined, entry];
    const wanted = bare(named.toLowerCase().replace(/^\*?\./, ""));
    if (wanted === "" || (only !== undefined && only !== port)) return false;
    return host === wanted || host.endsWith(`.${wanted}`);
  });
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

const bare = (host: string) => host.replace(/^\[|\]$/g, "");
