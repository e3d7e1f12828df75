/** What trim, seal and delete say over HTTP, as schemas. */
import { z } from "@hono/zod-openapi";
import { seqNum } from "./wire.ts";

export const trimBody = z
  .strictObject({
    seq_num: seqNum.openapi({ type: "integer", description: "The first record that is kept." }),
  })
  .openapi("Trim");

export const trimmed = z
  .object({
    log: z.string(),
    first_seq_num: seqNum.openapi({
      type: "integer",
      description: "Records below this one are gone: what was asked for, or more if it was trimmed before.",
    }),
  })
  .openapi("Trimmed");

export const sealedLog = z
  .object({
    log: z.string(),
    sealed: z.literal(true),
    tail: seqNum.openapi({ type: "integer", description: "The seq_num after the last record, for ever." }),
  })
  .openapi("Sealed");

export const deletedLog = z
  .object({
    log: z.string(),
    state: z.enum(["deleting", "deleted"]).openapi({
      description:
        "deleted: the name may be created again. deleting: nobody reads or writes the log any more, but " +
        "part of it is left; ask again.",
    }),
  })
  .openapi("Deleted");

export type TrimJson = z.input<typeof trimBody>;
export type TrimmedJson = z.infer<typeof trimmed>;
export type SealedJson = z.infer<typeof sealedLog>;
export type DeletedJson = z.infer<typeof deletedLog>;
