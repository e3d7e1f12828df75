/** Regions and bookies as they travel over HTTP. */
import * as z from "zod/mini";
import { component, noted, once, type Wire } from "./schema.ts";

const regionState = once(() =>
  z.enum(["accepting", "draining", "lost"], { error: "must be accepting, draining or lost" }),
);
const bookieState = once(() =>
  z.enum(["writable", "read-only", "lost"], { error: "must be writable, read-only or lost" }),
);

export const regionStateBody = component("RegionState", () =>
  z.strictObject({
    state: noted(regionState(), { description: "Only an accepting region takes new copies." }),
  }),
);

export const bookieStateBody = component("BookieState", () =>
  z.strictObject({
    state: noted(bookieState(), { description: "Only a writable bookie takes new copies." }),
  }),
);

export const bookieDescription = component("Bookie", () =>
  z.object({ bookie: z.string(), region: z.string(), rack: z.string(), state: bookieState() }),
);

export const regionDescription = component("Region", () =>
  z.object({ region: z.string(), state: regionState(), bookies: z.array(bookieDescription()) }),
);

export const regionList = component("RegionList", () => z.object({ regions: z.array(regionDescription()) }));

export type RegionStateJson = Wire<typeof regionState>;
export type BookieStateJson = Wire<typeof bookieState>;
export type BookieJson = Wire<typeof bookieDescription>;
export type RegionJson = Wire<typeof regionDescription>;
export type RegionListJson = Wire<typeof regionList>;
