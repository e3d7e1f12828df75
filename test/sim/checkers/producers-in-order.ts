/**
 * The log knows its producers: each one's records stand in it in their order, and none that goes on where it
 * stopped gets a gap, or of other records under its seq: a batch that was refused used up none. (That
 * each record is there once is the business of linearizable-logs.)
 */
import type { Content, Operation } from "../history.ts";
import type { Checker } from "./checker.ts";

const WRONG = ["producer_seq_gap", "idempotency_conflict"];

export const producersInOrder: Checker = {
  name: "producers-in-order",
  watch(world, report) {
    const batches = new Map<string, Content[][]>();
    return {
      operated({ request, answer, actor, process }: Operation) {
        if (request.kind !== "append" || request.idempotent !== "producer") return;
        if (answer === undefined) {
          // Each process of an actor is a producer of a higher epoch.
          const producer = `${request.log} ${actor} ${process.ordinal}`;
          batches.set(producer, [...(batches.get(producer) ?? []), [...request.contents]]);
        } else if ("reason" in answer) {
          const wrong = WRONG.find((code) => answer.reason.includes(code));
          if (wrong !== undefined)
            report(`${actor} sends ${request.contents[0]} and gets ${wrong}`, request.log);
        }
      },
      finished() {
        for (const [log, final] of world.logs) {
          const places = new Map(final.map((content, place) => [content, place]));
          for (const [producer, sent] of batches) {
            if (!producer.startsWith(`${log} `)) continue;
            let last = -1;
            for (const place of sent.flat().map((content) => places.get(content))) {
              if (place === undefined) continue;
              if (place < last)
                report(`a record of ${producer} stands at ${place}, after one at ${last}`, log);
              last = Math.max(last, place);
            }
          }
        }
      },
    };
  },
};
