/**
 * Which function serves which route. What writes goes to `append`, what reads to `read`,
 * whose answers are streamed if the topology says so.
 */
import type { FunctionRole } from "./names.ts";

export interface HttpRoute {
  readonly method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly role: Extract<FunctionRole, "append" | "read">;
}

const route = (method: HttpRoute["method"], path: string, role: HttpRoute["role"]): HttpRoute => ({
  method,
  path,
  role,
});

export const httpRoutes: readonly HttpRoute[] = [
  route("GET", "/v1/logs", "read"),
  route("GET", "/v1/logs/{log}", "read"),
  route("PUT", "/v1/logs/{log}", "append"),
  route("PATCH", "/v1/logs/{log}", "append"),
  route("DELETE", "/v1/logs/{log}", "append"),
  route("GET", "/v1/logs/{log}/segments", "read"),
  route("POST", "/v1/logs/{log}/records", "append"),
  route("GET", "/v1/logs/{log}/records", "read"),
  route("GET", "/v1/logs/{log}/records/tail", "read"),
  route("GET", "/v1/logs/{log}/owner", "read"),
  route("POST", "/v1/logs/{log}/owner/transfer", "append"),
  route("POST", "/v1/logs/{log}/settle", "append"),
  route("POST", "/v1/logs/{log}/trim", "append"),
  route("POST", "/v1/logs/{log}/seal", "append"),
  route("GET", "/v1/ledgers/{id}", "read"),
  route("POST", "/v1/ledgers/{id}/recover", "append"),
  route("GET", "/v1/regions", "read"),
  route("PATCH", "/v1/regions/{region}", "append"),
  route("PATCH", "/v1/regions/{region}/bookies/{bookie}", "append"),
  route("GET", "/v1/health", "read"),
  route("GET", "/v1/openapi.json", "read"),
];
