/**
 * How S3 keeps entries. A slot is written once, conditionally, and read at once by recoveries and readers of
 * the tail: a class must do that in milliseconds, in a bucket that lists in order, and keep what one zone
 * loses.
 */
import { type StorageClass, storageClasses } from "../../environment.ts";

/** Why a class that S3 has is none for slots. */
const unfit = new Map(
  Object.entries({
    ONEZONE_IA:
      "S3 chooses its one zone and does not say which, so that racks would not tell what is lost together",
    EXPRESS_ONEZONE:
      "its directory buckets list in no order and not from a key on, which sweeps of deleted ledgers need, " +
      "and live in one zone and in some regions only",
    REDUCED_REDUNDANCY: "it loses objects by design",
    GLACIER_IR:
      "a put costs four times as much, each read is charged by the GB, and 90 days are billed at least",
    GLACIER: "its objects have to be restored for hours before they can be read",
    DEEP_ARCHIVE: "its objects have to be restored for hours before they can be read",
    OUTPOSTS: "it is on hardware of one's own and in no region",
    SNOW: "it is on hardware of one's own and in no region",
  }),
);

/** What is wrong with a class that is none of those that fit. */
export function storageClassRefusal(given: unknown): string {
  const why = typeof given === "string" ? unfit.get(given) : undefined;
  const allowed = `must be one of ${storageClasses.join(", ")}`;
  return why === undefined
    ? `${allowed}, got ${JSON.stringify(given)}`
    : `${given} does not fit: ${why}; ${allowed}`;
}

/** Below this size a class bills more than there is, or does nothing. */
export const SMALL_BYTES = 128 * 1_024;

/** What a class costs, and which deployments: for the operator. */
export function storageClassWarnings({
  storageClass,
}: {
  readonly storageClass: StorageClass;
}): readonly string[] {
  switch (storageClass) {
    case "STANDARD":
      return [];
    case "INTELLIGENT_TIERING":
      return [
        "INTELLIGENT_TIERING: entries under 128 KB stay at the price of STANDARD; larger ones are charged " +
          "for being watched. Never turn on its archive tiers on a bookie's bucket: what is in them cannot " +
          "be read at once, and the bookie would not answer for it",
      ];
    case "STANDARD_IA":
      return [
        "STANDARD_IA: every entry is billed as 128 KB and for 30 days at least, a put costs twice as much, " +
          "and reads are charged by the GB; it saves only where batches are large, kept for months and " +
          "hardly read",
      ];
  }
}
