/** An append that was forwarded to a function is served or refused there, never forwarded again. */
import type { RecordInput } from "../../../lib/protocol/log/records/record.ts";
import { contentOf } from "../content.ts";
import type { Checker } from "./checker.ts";

export const forwardedOnce: Checker = {
  name: "forwarded-once",
  watch(_world, report) {
    /** Each delivery is an object of its own, which the function hands on as it is. */
    const forwarded = new WeakSet<readonly RecordInput[]>();
    return {
      functionCalled({ isForwarded, request }, outcome) {
        if (isForwarded && request !== undefined && outcome.kind === "began") forwarded.add(request.records);
      },
      regionCalled({ process, to, request }, answer) {
        if (request === undefined || answer !== undefined || !forwarded.has(request.records)) return;
        const first = contentOf(request.records[0]?.body ?? new Uint8Array());
        report(`${process.name} forwards ${first} to ${to}, which was forwarded to it`, request.log);
      },
    };
  },
};
