/**
 * The HTTP surface, the same on Lambda and on a laptop. It checks and types what comes
 * in, calls one operation, and sends the answer. Every response names its request and its region; every
 * error is a problem document.
 */
import { FencelineError } from "../protocol/errors.ts";
import type { ApiContext } from "./api-env.ts";
import { ApiError } from "./api-error.ts";
import { addHealthRoute } from "./health-route.ts";
import { addLedgerRoutes } from "./ledger-routes.ts";
import { addLogEndRoutes } from "./log-end-routes.ts";
import { addLogRoutes } from "./log-routes.ts";
import { servePages } from "./origins.ts";
import { addOwnerRoutes } from "./owner-routes.ts";
import { problemResponse } from "./problem.ts";
import { addRecordRoutes } from "./record-routes.ts";
import { addRegionRoutes } from "./region-routes.ts";
import { boundWork } from "./region-work.ts";
import { mediaType } from "./request-body.ts";
import { ApiApp } from "./route.ts";
import { type ApiOptions, refuseBadTargets, refuseOtherMethods, refuseUnknownRoute } from "./routing.ts";

export function createApi(options: ApiOptions): ApiApp {
  const app = new ApiApp(options.onUndeclared);
  app.use(async (c, next) => {
    c.set("requestId", crypto.randomUUID());
    await next();
    c.header("Request-Id", c.get("requestId"));
    c.header("Log-Region", options.region);
  });
  app.use(servePages(options.allowedOrigins ?? []));
  app.use(refuseBadTargets());
  app.use(boundWork(options.work));
  app.onError((error, c) => {
    tellFault(options, error, c);
    return problemResponse(error, {
      requestId: c.get("requestId"),
      region: options.region,
      method: c.req.method,
      log: c.req.param("log"),
      isAppend: c.req.method === "POST" && c.req.path.endsWith("/records"),
      membersIn: mediaType(c.req.raw) === "application/json" ? "body" : "query",
    });
  });
  app.notFound(refuseUnknownRoute);
  addLogRoutes(app, options);
  addLogEndRoutes(app, options);
  addOwnerRoutes(app, options);
  addRecordRoutes(app, options);
  addLedgerRoutes(app, options);
  addRegionRoutes(app, options);
  addHealthRoute(app, options);
  app.get("/v1/openapi.json", async (c) => {
    // Asked for by few: nobody else waits until it is there.
    const { openApiDocument } = await import("./openapi.ts");
    return c.json(openApiDocument(app.declared));
  });
  refuseOtherMethods(app);
  return app;
}

function tellFault(options: ApiOptions, error: unknown, c: ApiContext): void {
  if (error instanceof FencelineError || error instanceof ApiError) return;
  options.onFault?.(error, c.get("requestId"));
}
