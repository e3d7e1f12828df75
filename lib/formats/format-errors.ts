/** The two ways in which stored bytes cannot be read. Neither is ever taken for "absent" (rule 21). */
import { FencelineError } from "../protocol/errors.ts";

/** The bytes or the object are not what any version of us writes. Another copy may be good, so: retryable. */
export function damaged(what: string, detail: string, cause?: unknown): FencelineError {
  return new FencelineError("data_corrupt", { message: `${what} is damaged: ${detail}`, cause });
}

/** Written by a build that this one does not know; trying again does not help, a newer build does. */
export function unknownFormat(what: string, given: unknown, known: number): FencelineError {
  return new FencelineError("data_corrupt", {
    message:
      `${what} has format ${String(given)}, this build reads format ${known}: ` +
      "it was written by another version of fenceline; use that version or a newer one",
    retryable: false,
  });
}
