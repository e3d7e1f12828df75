/** Plain JSON of the deployment item. */
import { region } from "../protocol/ids.ts";
import type { DeploymentItem } from "../protocol/items.ts";
import type { ItemCodec } from "./item-codec.ts";

export const deploymentCodec: ItemCodec<DeploymentItem> = {
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
