/** Whether the region serves. */
import * as z from "zod/mini";
import { type ApiApp, answer, route } from "./route.ts";
import type { ApiOptions } from "./routing.ts";
import { component } from "./schema.ts";

const health = component("Health", () =>
  z.object({
    region: z.string(),
    status: z.enum(["ok", "degraded", "unavailable"]),
    survivable_region_losses: z.number(),
    detail: z.string(),
    metadata_mode: z.enum(["strong", "home"]),
    regions: z.array(z.object({ name: z.string(), status: z.enum(["up", "down"]) })),
  }),
);

const showHealth = route({
  method: "get",
  path: "/v1/health",
  summary: "Whether this region serves, and how many regions may be lost.",
  answers: { 200: answer(health, "The region's health.") },
});

export function addHealthRoute(app: ApiApp, options: ApiOptions): void {
  app.serve(showHealth, async (c) => {
    const now = await options.health();
    return c.json(
      {
        region: options.region,
        status: now.status,
        survivable_region_losses: now.survivableRegionLosses,
        detail: now.detail,
        metadata_mode: now.metadataMode,
        regions: [...now.regions],
      },
      200,
    );
  });
}
