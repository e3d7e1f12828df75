/**
 * Quarantined bookies as a last resort: first without any, then with all, and then each that was used is
 * tried to be left out after all.
 *
 * LS1 Another bookie to choose from never makes an answer impossible. So what is left in the answer is
 *     needed, given the rest of the answer.
 */
import type { BookieId } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import type { PlacementAnswer } from "./placement.ts";
import type { UsableBookies } from "./usable-bookies.ts";

export function fewestQuarantined(
  usable: UsableBookies,
  choose: (bookies: readonly BookieAddress[]) => PlacementAnswer,
): PlacementAnswer {
  let answer = choose(usable.sound);
  if (answer.kind === "ensemble" || usable.quarantined.length === 0) return answer;
  answer = choose([...usable.sound, ...usable.quarantined]);
  const needed = new Set<BookieId>();
  while (answer.kind === "ensemble") {
    const members = new Set(answer.ensemble.map(({ id }) => id));
    const used = usable.quarantined.filter(({ id }) => members.has(id));
    const doubtful = used.find(({ id }) => !needed.has(id));
    if (doubtful === undefined) break;
    const without = choose([...usable.sound, ...used.filter((bookie) => bookie !== doubtful)]);
    if (without.kind === "ensemble") answer = without;
    else needed.add(doubtful.id);
  }
  return answer;
}
