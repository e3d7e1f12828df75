/**
 * The shipped placement policy: region-aware and rack-aware, with every ensemble judged by the checker before
 * it is handed out.
 */
import { placeEnsemble } from "./place-ensemble.ts";
import type { Placement } from "./placement.ts";
import { replaceBookies } from "./replace-bookies.ts";

export const regionAware: Placement = { chooseEnsemble: placeEnsemble, replaceBookies };
