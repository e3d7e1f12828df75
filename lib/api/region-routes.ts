/** Regions and their bookies, for operators: what there is, and who takes new copies. */
import * as z from "zod/mini";
import { bookieId, region } from "../protocol/ids.ts";
import { bookieAnswer, regionAnswer } from "./answers.ts";
import { regionName } from "./owner-wire.ts";
import {
  bookieDescription,
  bookieStateBody,
  regionDescription,
  regionList,
  regionStateBody,
} from "./region-wire.ts";
import { type ApiApp, answer, jsonBody, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import type { ApiOptions } from "./routing.ts";
import { readSmallBody, SMALL_BODY_BYTES_MAX } from "./small-body.ts";

/** Its region's name, its own and its storage's. */
const BOOKIE_LENGTH_MAX = 256;

const STATE = { what: "state", example: '{"state": "..."}' };

const listRegions = route({
  id: "listRegions",
  method: "get",
  path: "/v1/regions",
  summary: "All regions with their bookies, and what operators said of them.",
  problems: problems("metadata"),
  answers: { 200: answer(regionList, "The regions in order of name.") },
});

const setRegionState = route({
  id: "setRegionState",
  method: "patch",
  path: "/v1/regions/{region}",
  summary: "Says whether the region takes new copies; functions at work know within ten seconds.",
  request: () => ({ params: z.object({ region: regionName() }) }),
  body: jsonBody(regionStateBody, SMALL_BODY_BYTES_MAX),
  problems: problems("body", "metadata", "region_not_found"),
  answers: { 200: answer(regionDescription, "The region as it is now.") },
});

const setBookieState = route({
  id: "setBookieState",
  method: "patch",
  path: "/v1/regions/{region}/bookies/{bookie}",
  summary: "Says whether the bookie takes new copies; functions at work know within ten seconds.",
  request: () => ({
    params: z.object({
      region: regionName(),
      bookie: z.string().check(z.minLength(1), z.maxLength(BOOKIE_LENGTH_MAX)),
    }),
  }),
  body: jsonBody(bookieStateBody, SMALL_BODY_BYTES_MAX),
  problems: problems("body", "metadata", "region_not_found", "bookie_not_found"),
  answers: { 200: answer(bookieDescription, "The bookie as it is now.") },
});

export function addRegionRoutes(app: ApiApp, options: ApiOptions): void {
  app.serve(listRegions, async (c) => {
    const regions = await options.regions.regions();
    return c.json({ regions: regions.map(regionAnswer) }, 200);
  });
  app.serve(setRegionState, async (c, { params }) => {
    const name = region(params.region);
    const { state } = await readSmallBody(c.req.raw, regionStateBody, STATE);
    return c.json(regionAnswer(await options.regions.setRegionState(name, state)), 200);
  });
  app.serve(setBookieState, async (c, { params }) => {
    const [name, id] = [region(params.region), bookieId(params.bookie)];
    const { state } = await readSmallBody(c.req.raw, bookieStateBody, STATE);
    return c.json(bookieAnswer(await options.regions.setBookieState(name, id, state)), 200);
  });
}
