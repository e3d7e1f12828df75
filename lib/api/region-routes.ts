/** Regions and their bookies, for operators: what there is, and who takes new copies. */
import { createRoute, z } from "@hono/zod-openapi";
import { bookieId, region } from "../protocol/ids.ts";
import { bookieAnswer, regionAnswer } from "./answers.ts";
import {
  bookieDescription,
  bookieStateBody,
  regionDescription,
  regionList,
  regionStateBody,
} from "./region-wire.ts";
import { type ApiApp, type ApiOptions, answer, errorAnswers } from "./routing.ts";
import { readSmallBody, withBody } from "./small-body.ts";

const STATE = { what: "state", example: '{"state": "..."}' };

const listRegions = createRoute({
  method: "get",
  path: "/v1/regions",
  summary: "All regions with their bookies, and what operators said of them.",
  responses: { 200: answer(regionList, "The regions in order of name."), ...errorAnswers },
});

const setRegionState = createRoute({
  method: "patch",
  path: "/v1/regions/{region}",
  summary: "Says whether the region takes new copies; functions at work know within ten seconds.",
  request: { params: z.object({ region: z.string() }) },
  responses: { 200: answer(regionDescription, "The region as it is now."), ...errorAnswers },
});

const setBookieState = createRoute({
  method: "patch",
  path: "/v1/regions/{region}/bookies/{bookie}",
  summary: "Says whether the bookie takes new copies; functions at work know within ten seconds.",
  request: { params: z.object({ region: z.string(), bookie: z.string() }) },
  responses: { 200: answer(bookieDescription, "The bookie as it is now."), ...errorAnswers },
});

export function addRegionRoutes(app: ApiApp, options: ApiOptions): void {
  app.openapi(listRegions, async (c) => {
    const regions = await options.regions.regions();
    return c.json({ regions: regions.map(regionAnswer) }, 200);
  });
  // Bodies are read under a limit of their own, so only their documentation is declared.
  app.openAPIRegistry.registerPath(withBody(setRegionState, regionStateBody));
  app.openapi({ ...setRegionState, hide: true }, async (c) => {
    const name = region(c.req.valid("param").region);
    const { state } = await readSmallBody(c.req.raw, regionStateBody, STATE);
    return c.json(regionAnswer(await options.regions.setRegionState(name, state)), 200);
  });
  app.openAPIRegistry.registerPath(withBody(setBookieState, bookieStateBody));
  app.openapi({ ...setBookieState, hide: true }, async (c) => {
    const params = c.req.valid("param");
    const [name, id] = [region(params.region), bookieId(params.bookie)];
    const { state } = await readSmallBody(c.req.raw, bookieStateBody, STATE);
    return c.json(bookieAnswer(await options.regions.setBookieState(name, id, state)), 200);
  });
}
