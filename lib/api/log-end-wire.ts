/** What trim, seal and delete say over HTTP, as schemas. */
import * as z from "zod/mini";
import { component, noted, type Wire } from "./schema.ts";
import { seqNum } from "./wire.ts";

export const trimBody = component("Trim", () =>
  z.strictObject({ seq_num: noted(seqNum(), { description: "The first record that is kept." }) }),
);

export const trimmed = component("Trimmed", () =>
  z.object({
    log: z.string(),
    first_seq_num: noted(seqNum(), {
      description: "Records below this one are gone: what was asked for, or more if it was trimmed before.",
    }),
  }),
);

export const sealedLog = component("Sealed", () =>
  z.object({
    log: z.string(),
    sealed: z.literal(true),
    tail: noted(seqNum(), { description: "The seq_num after the last record, for ever." }),
  }),
);

export const deletedLog = component("Deleted", () =>
  z.object({
    log: z.string(),
    state: noted(z.enum(["deleting", "deleted"]), {
      description:
        "deleted: the name may be created again. deleting: nobody reads or writes the log any more, but " +
        "part of it is left; ask again.",
    }),
  }),
);

export type TrimmedJson = Wire<typeof trimmed>;
export type SealedJson = Wire<typeof sealedLog>;
export type DeletedJson = Wire<typeof deletedLog>;
