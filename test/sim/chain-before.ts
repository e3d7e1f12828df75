/** What was the last of a log's chain before an item was put: the item that it took over, or the one before it. */

import type { LogIncarnation } from "../../lib/protocol/ids.ts";
import { segmentsPartition } from "../../lib/protocol/items.ts";
import type { Versioned } from "../../lib/protocol/ports.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { World } from "./world.ts";

export function chainBefore(world: World, { key, before }: MetadataChange): Versioned | undefined {
  if (before !== undefined) return before;
  const partition = segmentsPartition(key.partition.replace("segments#", "") as LogIncarnation);
  const upTo = world.table.query({ partition, to: key.sort, order: "descending", limit: 2 });
  return upTo.find((one) => one.key.sort !== key.sort);
}
