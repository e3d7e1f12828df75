/** What Lambda takes of one request, which the client can know before it sends. */
import { ProblemError } from "../client-errors.ts";

/** The quota that AWS calls 6 MB. */
const PAYLOAD_BYTES_MAX = 6 * 1_024 * 1_024;

/** `bytes`: at least those of the event that a function gets. Throws a problem, as of a region. */
export function refuseTooLarge(bytes: number, method: string): void {
  if (bytes <= PAYLOAD_BYTES_MAX) return;
  throw new ProblemError({
    type: "urn:fenceline:problem:body_too_large",
    title: "Body too large",
    status: 413,
    detail:
      `the ${method} request takes ${bytes} bytes as an event of Lambda, which takes ${PAYLOAD_BYTES_MAX}; ` +
      "nothing was sent. Send fewer records at once, or records that are no text as base 64",
    instance: `urn:uuid:${crypto.randomUUID()}`,
    code: "body_too_large",
    retryable: false,
    side_effects: "none",
  });
}
