/** What a region's base URL may be, wherever it comes from: an option, a file, the environment, a program. */

/**
 * What is wrong with it, if anything, without a password that may stand in it. A query or a fragment would
 * swallow the paths that requests append.
 */
export function endpointFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    const why = url === undefined ? unparsed(text) : `has the scheme ${url.protocol.slice(0, -1)}`;
    return `has to be a region's base URL, such as http://127.0.0.1:4701; ${shown(text)} ${why}`;
  }
  if (url.username !== "" || url.password !== "" || /^\w+:[/\\]*[^/\\?#]*@/.test(text)) {
    return "has a user or a password in its URL, which every log would show; leave it out";
  }
  if (/[?#]/.test(text)) return "has a query or a fragment, and a region's base URL has none; leave it out";
  return undefined;
}

const PORT_MAX = 65_535;

/** Why a URL parser takes it for none, as far as that is plain. */
function unparsed(text: string): string {
  const port = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text)?.[1];
  if (port !== undefined && Number(port) > PORT_MAX) return `has a port over ${PORT_MAX}`;
  return "is no URL";
}

/** What stands before an @, or behind a ? or a #, may be secret. */
function shown(text: string): string {
  const LENGTH_MAX = 100;
  const open = text.replace(/^.*@/s, "...@").replace(/[?#].*$/s, "...");
  return JSON.stringify(open.length > LENGTH_MAX ? `${open.slice(0, LENGTH_MAX)}...` : open);
}
