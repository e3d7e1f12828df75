/** Regions and bookies as they travel over HTTP. */
import { z } from "@hono/zod-openapi";

const regionState = z.enum(["accepting", "draining", "lost"], {
  error: "must be accepting, draining or lost",
});
const bookieState = z.enum(["writable", "read-only", "lost"], {
  error: "must be writable, read-only or lost",
});

export const regionStateBody = z
  .strictObject({
    state: regionState.openapi({ description: "Only an accepting region takes new copies." }),
  })
  .openapi("RegionState");

export const bookieStateBody = z
  .strictObject({
    state: bookieState.openapi({ description: "Only a writable bookie takes new copies." }),
  })
  .openapi("BookieState");

export const bookieDescription = z
  .object({ bookie: z.string(), region: z.string(), rack: z.string(), state: bookieState })
  .openapi("Bookie");

export const regionDescription = z
  .object({ region: z.string(), state: regionState, bookies: z.array(bookieDescription) })
  .openapi("Region");

export const regionList = z.object({ regions: z.array(regionDescription) }).openapi("RegionList");

export type RegionStateJson = z.infer<typeof regionState>;
export type BookieStateJson = z.infer<typeof bookieState>;
export type BookieJson = z.infer<typeof bookieDescription>;
export type RegionJson = z.infer<typeof regionDescription>;
export type RegionListJson = z.infer<typeof regionList>;
