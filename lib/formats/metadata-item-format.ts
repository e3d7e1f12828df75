/**
 * Items as plain JSON objects: `{kind, format, ...fields}`, each kind with a format number of its own.
 * Decoding checks every field, so that nothing below a store meets an item of the wrong shape.
 */
import { AssertionError, assert } from "../protocol/assert.ts";
import { ledgerId, region } from "../protocol/ids.ts";
import type { BookieItem, DeploymentItem, Item, LedgerListing, RegionItem } from "../protocol/items.ts";
import { damaged } from "./format-errors.ts";
import type { ItemCodec } from "./item-codec.ts";
import { type JsonFields, type JsonObject, readObject } from "./json-fields.ts";
import { decodeAddress, encodeAddress, ledgerCodec } from "./ledger-format.ts";
import { directoryCodec, endCodec, logCodec, logNameCodec, segmentCodec } from "./log-items-format.ts";

/** What operators say of regions and bookies. */
const regionCodec: ItemCodec<RegionItem> = {
  format: 1,
  encode: (item) => ({ region: item.region, state: item.state }),
  decode: (fields) => ({
    kind: "region",
    region: region(fields.text("region")),
    state: fields.oneOf("state", ["accepting", "draining", "lost"]),
  }),
};

const bookieCodec: ItemCodec<BookieItem> = {
  format: 1,
  encode: (item) => ({ address: encodeAddress(item.address), state: item.state }),
  decode: (fields) => ({
    kind: "bookie",
    address: fields.object("address", decodeAddress),
    state: fields.oneOf("state", ["writable", "read-only", "lost"]),
  }),
};

const deploymentCodec: ItemCodec<DeploymentItem> = {
  format: 1,
  encode: (item) => ({
    metadataMode: item.metadataMode,
    ...(item.homeRegion === undefined ? {} : { homeRegion: item.homeRegion }),
  }),
  decode: (fields) => ({
    kind: "deployment",
    metadataMode: fields.oneOf("metadataMode", ["strong", "home"]),
    ...(fields.has("homeRegion") ? { homeRegion: region(fields.text("homeRegion")) } : {}),
  }),
};

/** A ledger's place in its region's list. */
const ledgerListingCodec: ItemCodec<LedgerListing> = {
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

const codecs: { readonly [K in Item["kind"]]: ItemCodec<Extract<Item, { kind: K }>> } = {
  ledger: ledgerCodec,
  "log-name": logNameCodec,
  log: logCodec,
  segment: segmentCodec,
  end: endCodec,
  directory: directoryCodec,
  "ledger-listing": ledgerListingCodec,
  deployment: deploymentCodec,
  region: regionCodec,
  bookie: bookieCodec,
};
const kinds = Object.keys(codecs) as Item["kind"][];

export function encodeItem(item: Item): JsonObject {
  const codec: ItemCodec<Item> | undefined = codecOf(item.kind);
  assert(codec !== undefined, `no format for items of kind ${item.kind}`);
  return { kind: item.kind, format: codec.format, ...codec.encode(item) };
}

/** The item in a stored object. `data_corrupt` if it is none, or of a format unknown to this build. */
export function decodeItem(value: unknown): Item {
  try {
    return readObject("a metadata item", value, decodeFields);
  } catch (error) {
    // The protocol's own checks assert; what is stored is data, and bad data is no programmer's error.
    if (error instanceof AssertionError) throw damaged("a metadata item", error.message, error);
    throw error;
  }
}

function decodeFields(fields: JsonFields): Item {
  const kind = fields.oneOf("kind", kinds);
  const codec = codecOf(kind);
  fields.format(codec.format, `a metadata item of kind ${kind}`);
  return codec.decode(fields);
}

/** The table's own type ties each kind to its item; a lookup by a kind known only at run time cannot. */
function codecOf(kind: Item["kind"]): ItemCodec<Item> {
  return codecs[kind] as unknown as ItemCodec<Item>;
}
