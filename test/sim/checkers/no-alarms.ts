/** A log's reader never meets what rule 33d calls an alarm, and nobody a ledger that must not be there. */
import type { Checker } from "./checker.ts";

export const noAlarms: Checker = {
  name: "no-alarms",
  watch(_world, report) {
    return {
      emitted(event) {
        if (event.event === "log-alarm") report(`alarm: ${event.reason}`, event.log);
      },
    };
  },
};
