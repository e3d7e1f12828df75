/**
 * Where in a request something stands that is refused: a JSON pointer (RFC 6901) into its four parts, such as
 * `/body/records/0/timestamp`, `/query/seq_num`, `/path/log` or `/header/prefer`.
 */
export type RequestPart = "path" | "query" | "header" | "body";

/** What is wrong with a request, and where. */
export interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

export function pointerTo(part: RequestPart, path: readonly PropertyKey[] = []): string {
  const escaped = path.map((step) => String(step).replaceAll("~", "~0").replaceAll("/", "~1"));
  return ["", part, ...escaped].join("/");
}

/** Of what the log itself refused: it names members of the request alone, which came in `part`. */
export function pointerFrom(ofLog: string, part: RequestPart): string {
  return ofLog.startsWith("/") ? ofLog : `/${part}/${ofLog}`;
}
