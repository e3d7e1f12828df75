/** Plain JSON of a ledger's place in its region's list. */
import { ledgerId, region } from "../protocol/ids.ts";
import type { LedgerListing } from "../protocol/items.ts";
import type { ItemCodec } from "./item-codec.ts";

export const ledgerListingCodec: ItemCodec<LedgerListing> = {
  format: 1,
  encode: (item) => ({
    ledgerId: item.ledgerId,
    region: item.region,
    createdAtMs: item.createdAtMs,
    ...(item.sweptAtMs === undefined ? {} : { sweptAtMs: item.sweptAtMs }),
  }),
  decode: (fields) => ({
    kind: "ledger-listing",
    ledgerId: ledgerId(fields.integer("ledgerId", 0)),
    region: region(fields.text("region")),
    createdAtMs: fields.number("createdAtMs"),
    ...(fields.has("sweptAtMs") ? { sweptAtMs: fields.number("sweptAtMs") } : {}),
  }),
};
