/** Trace events as JSON lines, one event a line, for people and log collectors. */
import type { Clock } from "../../protocol/deadline.ts";
import type { Trace } from "../../protocol/ports.ts";
import type { TraceEvent } from "../../protocol/trace-events.ts";

const levels = ["debug", "info", "warn", "error", "off"] as const;
export type TraceLevel = (typeof levels)[number];

/** How loud each event is. Errors are what a person must look at: damaged data, a rule that failed. */
const levelOf: Readonly<Record<TraceEvent["event"], Exclude<TraceLevel, "off">>> = {
  "ledger-created": "info",
  "entry-acknowledged": "debug",
  "ack-waits-for-regions": "error",
  "bookie-failed": "warn",
  "ensemble-changed": "info",
  "ensemble-change-refused": "warn",
  "writer-stopped": "warn",
  "ledger-closed": "info",
  "recovery-started": "info",
  "recovery-adopted": "info",
  "recovery-failed": "warn",
  "corrupt-entry": "error",
  "ledger-swept": "info",
  "segment-opened": "info",
  "log-trimmed": "info",
  "log-sealed": "info",
  "log-deleting": "info",
  "log-deleted": "info",
  "chain-item-removed": "info",
  "ledger-collected": "info",
  "segment-resumed": "debug",
  "producers-restored": "debug",
  "lease-acquired": "debug",
  "lease-released": "debug",
  "lease-lost": "info",
  "ledger-abandoned": "info",
  "tail-settled": "info",
  "log-read": "debug",
  "registry-not-read": "warn",
  "log-alarm": "error",
};

export interface ConsoleTraceFields {
  /** Takes one line without its newline, such as a write to stderr. What it throws is dropped. */
  readonly write: (line: string) => void;
  readonly clock: Clock;
  /** Events below this level are dropped. Quiet by default: errors alone. */
  readonly level?: TraceLevel;
}

export class ConsoleTrace implements Trace {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;
  readonly #threshold: number;

  constructor(fields: ConsoleTraceFields) {
    this.#write = fields.write;
    this.#clock = fields.clock;
    this.#threshold = levels.indexOf(fields.level ?? "error");
  }

  emit(event: TraceEvent): void {
    const level = levelOf[event.event];
    if (levels.indexOf(level) < this.#threshold) return;
    try {
      const time = new Date(this.#clock.nowMs()).toISOString();
      this.#write(JSON.stringify({ time, level, ...event }));
    } catch {
      // A closed pipe or a full disk must not stop the log (Trace.emit never throws).
    }
  }
}
