/**
 * The HTTP surface, the same on Lambda and on a laptop (design section 8). It checks and types what comes
 * in, calls one operation, and tells the answer. Every response names its request and its region; every
 * error is a problem document.
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { FencelineError } from "../protocol/errors.ts";
import { ApiError } from "./api-error.ts";
import { addLedgerRoutes } from "./ledger-routes.ts";
import { addLogEndRoutes } from "./log-end-routes.ts";
import { addLogRoutes } from "./log-routes.ts";
import { addOwnerRoutes } from "./owner-routes.ts";
import { problemResponse } from "./problem.ts";
import { addRecordRoutes } from "./record-routes.ts";
import { addRegionRoutes } from "./region-routes.ts";
import {
  type ApiApp,
  type ApiContext,
  type ApiEnv,
  type ApiOptions,
  answer,
  errorAnswers,
  refuseDotSegments,
  refuseInvalid,
  refuseOtherMethods,
  refuseUnknownRoute,
} from "./routing.ts";

const showHealth = createRoute({
  method: "get",
  path: "/v1/health",
  summary: "Whether this region serves, and how many regions may be lost.",
  responses: {
    200: answer(
      z
        .object({
          region: z.string(),
          status: z.enum(["ok", "degraded", "unavailable"]),
          survivable_region_losses: z.number(),
          detail: z.string(),
          metadata_mode: z.enum(["strong", "home"]),
          regions: z.array(z.object({ name: z.string(), status: z.enum(["up", "down"]) })),
        })
        .openapi("Health"),
      "The region's health.",
    ),
    ...errorAnswers,
  },
});

export function createApi(options: ApiOptions): ApiApp {
  const app: ApiApp = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid });
  app.use(async (c, next) => {
    c.set("requestId", crypto.randomUUID());
    await next();
    c.header("Request-Id", c.get("requestId"));
    c.header("Log-Region", options.region);
  });
  app.use(refuseDotSegments());
  app.onError((error, c) => {
    tellFault(options, error, c);
    return problemResponse(error, {
      requestId: c.get("requestId"),
      region: options.region,
      method: c.req.method,
      log: c.req.param("log"),
      isAppend: c.req.method === "POST" && c.req.path.endsWith("/records"),
    });
  });
  app.notFound(refuseUnknownRoute);
  addLogRoutes(app, options);
  addLogEndRoutes(app, options);
  addOwnerRoutes(app, options);
  addRecordRoutes(app, options);
  addLedgerRoutes(app, options);
  addRegionRoutes(app, options);
  app.openapi(showHealth, async (c) => {
    const health = await options.health();
    return c.json(
      {
        region: options.region,
        status: health.status,
        survivable_region_losses: health.survivableRegionLosses,
        detail: health.detail,
        metadata_mode: health.metadataMode,
        regions: [...health.regions],
      },
      200,
    );
  });
  app.doc31("/v1/openapi.json", {
    openapi: "3.1.0",
    info: {
      title: "Fenceline",
      version: "1",
      description: "A globally replicated, fenced log. Names are URL-encoded; errors are RFC 9457 documents.",
    },
  });
  refuseOtherMethods(app);
  return app;
}

function tellFault(options: ApiOptions, error: unknown, c: ApiContext): void {
  if (error instanceof FencelineError || error instanceof ApiError) return;
  options.onFault?.(error, c.get("requestId"));
}
