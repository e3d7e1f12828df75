/** What is said over HTTP about the owner of a log, as schemas. */
import { z } from "@hono/zod-openapi";

const regionName = z.string().min(1).max(64);

export const preferredRegion = regionName.openapi({
  description: "Where the log should be owned; while that region is healthy it gets there by and by.",
});

export const configureBody = z
  .strictObject({
    preferred_region: preferredRegion.nullable().openapi({ description: "null: anywhere." }),
  })
  .openapi("ConfigureLog");

export const transferBody = z
  .strictObject({
    region: regionName.openapi({ description: "The region that is to own the log." }),
  })
  .openapi("TransferOwner");

export const ownership = z
  .object({
    log: z.string(),
    owner: z.string().nullable().openapi({ description: "null: nothing was appended yet." }),
    epoch: z.number().optional().openapi({
      description: "Number of the last log segment; grows with each change of writer.",
    }),
    preferred_region: z.string().optional(),
  })
  .openapi("Owner");

export type OwnershipJson = z.infer<typeof ownership>;
