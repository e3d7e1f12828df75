/**
 * What an append returns is what is there: the records stand in the segment, entry and slots that the answer
 * names, with the seq_nums and timestamps that it names; a conditional append stands where its condition says,
 * whatever its caller got, or nowhere.
 */
import type { Content } from "../history.ts";
import { ToldAppends } from "../told-appends.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const positionsTold: Checker = {
  name: "positions-told",
  watch(world, report) {
    const told = new ToldAppends(world);
    return {
      appended: (...append) => told.appended(...append),
      metadataChanged: (change) => told.metadataChanged(change),
      finished() {
        for (const one of told.all) {
          if (told.lifeOf(one) !== undefined) continue;
          const { start, last } = one.ack;
          report(`${one.contents[0]} does not stand as told: ${JSON.stringify({ start, last })}`, one.log);
        }
        for (const wrong of misplaced(world)) report(wrong);
      },
    };
  },
};

function* misplaced(world: World): Generator<string> {
  const places = new Map<string, ReadonlyMap<Content, number>>();
  for (const [log, final] of world.logs) {
    places.set(log, new Map(final.map((content, place) => [content, place])));
  }
  for (const { request, actor } of world.history.operations) {
    if (request.kind !== "append" || request.match === undefined) continue;
    const place = places.get(request.log)?.get(request.contents[0] ?? -1);
    if (place === undefined || place === request.match) continue;
    yield `${request.contents[0]} of ${actor} stands at ${place}, on the condition that it is ${request.match}`;
  }
}
