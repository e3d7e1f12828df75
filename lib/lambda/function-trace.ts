/**
 * What a function reports of itself: log lines, and metrics in the embedded format that CloudWatch reads
 * out of them. Fed by the protocol's trace and by what the function's own work says. Ids and reasons only:
 * never a record's bytes.
 */
import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { CommonSettings } from "../environment.ts";
import type { CallDenied } from "../protocol/errors.ts";
import type { Trace } from "../protocol/ports.ts";
import type { TraceEvent } from "../protocol/trace-events.ts";

/** How loud each event is; what is not named is for debugging. */
const levels: Partial<Record<TraceEvent["event"], "info" | "warn" | "error">> = {
  "ack-waits-for-regions": "error",
  "bookie-failed": "warn",
  "ensemble-changed": "info",
  "ensemble-change-refused": "warn",
  "writer-stopped": "warn",
  "recovery-started": "info",
  "recovery-failed": "warn",
  "corrupt-entry": "error",
  "ledger-swept": "info",
  "segment-opened": "info",
  "log-trimmed": "info",
  "log-sealed": "info",
  "log-deleting": "info",
  "log-deleted": "info",
  "ledger-collected": "info",
  "ledger-abandoned": "info",
  "lease-lost": "info",
  "tail-settled": "info",
  "registry-not-read": "warn",
  "log-alarm": "error",
};

/** Events that are counted, and under what name; a stopped writer is counted by its reason. */
const counted: Partial<Record<TraceEvent["event"], string>> = {
  "entry-acknowledged": "entriesAcknowledged",
  "bookie-failed": "bookieFailures",
  "ensemble-changed": "ensembleChanges",
  "ensemble-change-refused": "ensembleChangesRefused",
  "recovery-started": "recoveries",
  "recovery-failed": "recoveriesFailed",
  "corrupt-entry": "corruptEntries",
  "segment-opened": "segmentsOpened",
  "ledger-collected": "ledgersCollected",
  "tail-settled": "tailsSettled",
  "log-alarm": "alarms",
};

/** `fenced` counts writers that a rival stopped: one that ran out of bookies, or of metadata, had none. */
function metricOf(told: TraceEvent): string | undefined {
  if (told.event === "writer-stopped") return told.code === "fenced" ? "fenced" : "writersStopped";
  return counted[told.event];
}

const METRIC_NAMESPACE = "Fenceline";

export class FunctionTrace implements Trace {
  readonly logger: Logger;
  readonly #metrics: Metrics;

  readonly #stage: string;
  readonly #totals: { readonly metric: string; readonly now: () => number; told: number }[] = [];

  /**
   * `stage`: which function it is. Each metric is there for the deployment's region, and for that stage of
   * it.
   */
  constructor(settings: CommonSettings, stage: string, region: string) {
    const { deployment, logLevel } = settings;
    this.#stage = stage;
    this.logger = new Logger({ serviceName: `${deployment}-${stage}`, logLevel });
    this.#metrics = new Metrics({
      namespace: METRIC_NAMESPACE,
      serviceName: deployment,
      defaultDimensions: { region },
    });
  }

  emit(told: TraceEvent): void {
    const { event, ...fields } = told;
    const metric = metricOf(told);
    if (metric !== undefined) this.count(metric);
    this.logger[levels[event] ?? "debug"](event, fields);
  }

  count(metric: string, value = 1): void {
    if (value > 0) this.#metrics.addMetric(metric, MetricUnit.Count, value);
  }

  /** A number that another part counts, and that never falls: each flush reports what it grew by. */
  follow(metric: string, now: () => number): void {
    this.#totals.push({ metric, now, told: now() });
  }

  /** A call that this function may not make: nothing mends that but a deployment. */
  denied(error: CallDenied): void {
    this.count("callsDenied");
    this.logger.error("call denied", error);
  }

  took(metric: string, durationMs: number): void {
    this.#metrics.addMetric(metric, MetricUnit.Milliseconds, durationMs);
  }

  /** At the end of each call: metrics that were not written would wait for the next one, or for ever. */
  flush(): void {
    for (const total of this.#totals) {
      const now = total.now();
      this.count(total.metric, now - total.told);
      total.told = now;
    }
    if (!this.#metrics.hasStoredMetrics()) return;
    this.#metrics.addDimensions({}).addDimensions({ stage: this.#stage });
    this.#metrics.publishStoredMetrics();
  }
}
