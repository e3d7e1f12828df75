/** Plain JSON of the registry's items: what operators say of regions and bookies. */
import { region } from "../protocol/ids.ts";
import type { BookieItem, RegionItem } from "../protocol/items.ts";
import type { ItemCodec } from "./item-codec.ts";
import { decodeAddress, encodeAddress } from "./ledger-format.ts";

export const regionCodec: ItemCodec<RegionItem> = {
  format: 1,
  encode: (item) => ({ region: item.region, state: item.state }),
  decode: (fields) => ({
    kind: "region",
    region: region(fields.text("region")),
    state: fields.oneOf("state", ["accepting", "draining", "lost"]),
  }),
};

export const bookieCodec: ItemCodec<BookieItem> = {
  format: 1,
  encode: (item) => ({ address: encodeAddress(item.address), state: item.state }),
  decode: (fields) => ({
    kind: "bookie",
    address: fields.object("address", decodeAddress),
    state: fields.oneOf("state", ["writable", "read-only", "lost"]),
  }),
};
