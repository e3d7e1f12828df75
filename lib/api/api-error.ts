/** Failures that belong to the HTTP surface alone. None of them has reached the log. */
export const apiErrorStatus = {
  bad_json: 400,
  origin_not_allowed: 403,
  route_not_found: 404,
  method_not_allowed: 405,
  not_utf8: 406,
  request_timeout: 408,
  body_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  headers_too_large: 431,
} as const;

export type ApiErrorCode = keyof typeof apiErrorStatus;

export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly code: ApiErrorCode,
    /** The value given, what is allowed, what to do. */
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    /** Headers that belong to the answer, such as Allow. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
