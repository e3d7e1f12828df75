/**
 * What a finished transfer says is true: the region that was asked for owned the log, by the segment that the
 * answer names, at some moment between request and answer (OT1).
 */
import type { Operation } from "../history.ts";
import { OwnedTimes } from "../owned-times.ts";
import type { Checker } from "./checker.ts";

export const transfersTold: Checker = {
  name: "transfers-told",
  watch(world, report) {
    const times = new OwnedTimes(world);
    return {
      metadataChanged: (change) => times.metadataChanged(change),
      operated({ request, answer, startedAt, endedAt, actor }: Operation) {
        if (request.kind !== "transfer" || answer?.kind !== "owned") return;
        const { log, to } = request;
        const { owner, epoch } = answer;
        if (owner !== to) return report(`${actor} asked for ${to} and was told of ${owner}`, log);
        const isTrue = times
          .of(log)
          .some(
            (one) => one.owner === owner && one.epoch === epoch && one.from < endedAt && one.to >= startedAt,
          );
        if (!isTrue) report(`${actor} was told that ${owner} owns segment ${epoch}; it never did then`, log);
      },
    };
  },
};
