/**
 * Port: how a reader has a tail settled that it cannot decide (rule 14). The composition root lets it call
 * the `append` function of its own region, which asks the owner's and takes over if that is silent.
 */
import type { LogName, Region } from "../ids.ts";

export interface Settler {
  /** Resolves when the tail is settled; a rejection says nothing, the reader looks again. */
  settle(ownerRegion: Region, log: LogName): Promise<void>;
}
