/** What is said over HTTP about the owner of a log, as schemas. */
import * as z from "zod/mini";
import { component, noted, once, type Wire } from "./schema.ts";

export const regionName = once(() => z.string().check(z.minLength(1), z.maxLength(64)));

export const preferredRegion = once(() =>
  noted(regionName(), {
    description: "Where the log should be owned; while that region is healthy it gets there by and by.",
  }),
);

export const configureBody = component("ConfigureLog", () =>
  z.strictObject({
    preferred_region: noted(z.nullable(regionName()), { description: "null: anywhere." }),
  }),
);

export const transferBody = component("TransferOwner", () =>
  z.strictObject({
    region: noted(regionName(), { description: "The region that is to own the log." }),
  }),
);

export const ownership = component("Owner", () =>
  z.object({
    log: z.string(),
    owner: noted(z.nullable(z.string()), { description: "null: nothing was appended yet." }),
    epoch: z.optional(
      noted(z.number(), {
        description: "Number of the last log segment; grows with each change of writer.",
      }),
    ),
    preferred_region: z.optional(z.string()),
  }),
);

export type OwnershipJson = Wire<typeof ownership>;
