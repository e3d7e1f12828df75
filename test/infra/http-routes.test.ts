/** The gateway has every route of the HTTP surface, and no other. */
import { expect, test } from "vitest";
import { httpRoutes } from "../../lib/infra/http-routes.ts";
import { apiUnderTest } from "../api/api-under-test.ts";

test("each route of the surface is one of the gateway's, served by append if it changes anything", async () => {
  const { send } = apiUnderTest();
  const document = (await (await send("GET", "/v1/openapi.json")).json()) as {
    paths: Record<string, object>;
  };
  const served = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const described = httpRoutes.filter(({ path }) => path !== "/v1/openapi.json");
  expect(described.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(served.sort());
  for (const { method, role } of httpRoutes) expect(role).toBe(method === "GET" ? "read" : "append");
});
