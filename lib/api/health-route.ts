/**
 * Whether the region serves: 200, or 503 while it cannot, with the same document. Load balancers go by the
 * status; that anything answers at all says that the process lives.
 */
import * as z from "zod/mini";
import { type ApiApp, answer, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import type { ApiOptions } from "./routing.ts";
import { component, noted } from "./schema.ts";
import { strictQuery } from "./strict-query.ts";

const seen = () => z.array(z.object({ name: z.string(), status: z.enum(["up", "down"]) }));

const health = component("Health", () =>
  z.object({
    region: z.string(),
    status: z.enum(["ok", "degraded", "unavailable"]),
    survivable_region_losses: noted(z.number(), {
      description: "How many more regions may be lost, whichever they are, and appends and reads go on.",
    }),
    detail: z.string(),
    metadata_mode: z.enum(["strong", "home"]),
    regions: noted(seen(), { description: "up: its bookies answer." }),
    metadata_replicas: noted(seen(), {
      description: "The regions that hold the metadata; a witness, which nobody can ask, is not listed.",
    }),
  }),
);

const showHealth = route({
  id: "showHealth",
  method: "get",
  path: "/v1/health",
  summary: "Whether this region serves, and how many regions may be lost.",
  request: () => ({ query: strictQuery({}) }),
  problems: problems(),
  answers: {
    200: answer(health, "It serves: status ok, or degraded."),
    503: answer(health, "It does not: status unavailable. No problem document, but the same as with 200."),
  },
});

export function addHealthRoute(app: ApiApp, options: ApiOptions): void {
  app.serve(showHealth, async (c) => {
    const now = await options.health();
    const told = {
      region: options.region,
      status: now.status,
      survivable_region_losses: now.survivableRegionLosses,
      detail: now.detail,
      metadata_mode: now.metadataMode,
      regions: [...now.regions],
      metadata_replicas: [...now.metadataReplicas],
    };
    return now.status === "unavailable" ? c.json(told, 503) : c.json(told, 200);
  });
}
