/** What a region's base URL may be, wherever it comes from: an option, a file, the environment, a program. */

/**
 * What is wrong with it, if anything, without repeating it: there may be a password in it. A query or a
 * fragment would swallow the paths that requests append.
 */
export function endpointFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    return "has to be a region's base URL, such as http://127.0.0.1:4701";
  }
  if (url.username !== "" || url.password !== "" || /^\w+:[/\\]*[^/\\?#]*@/.test(text)) {
    return "has a user or a password in its URL, which every log would show; leave it out";
  }
  if (/[?#]/.test(text)) return "has a query or a fragment, and a region's base URL has none; leave it out";
  return undefined;
}
