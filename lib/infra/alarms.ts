/** What an operator should look at. Alarms carry no actions: the operator chooses whom they notify. */
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { RegionalFunction } from "./regional-function.ts";
import { counted, PERIOD, type WatchedRegion } from "./watched-region.ts";

interface Watch {
  readonly id: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** Periods of five minutes in a row. */
  readonly periods: number;
  readonly says: string;
}

export class Alarms extends Construct {
  constructor(scope: Construct, id: string, watched: WatchedRegion) {
    super(scope, id);
    const { names, region } = watched;
    for (const watch of watchesOf(watched)) {
      new Alarm(this, watch.id, {
        alarmName: `${names.deployment}-${region}-${watch.id}`,
        alarmDescription: watch.says,
        metric: watch.metric,
        threshold: watch.threshold,
        evaluationPeriods: watch.periods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    }
  }
}

function watchesOf(watched: WatchedRegion): readonly Watch[] {
  const { api, functions, bookies, inbox } = watched;
  const sum = { statistic: "Sum", period: PERIOD };
  return [
    {
      id: "unknown-outcomes",
      metric: counted(watched, "unknownOutcomes"),
      threshold: 10,
      periods: 1,
      says: "Appends were answered without saying whether they happened: bookies or metadata are silent.",
    },
    {
      id: "recoveries",
      metric: counted(watched, "recoveries"),
      threshold: 20,
      periods: 3,
      says: "Ledgers are recovered all the time: writers die, or two regions fence each other.",
    },
    {
      id: "calls-denied",
      metric: counted(watched, "callsDenied"),
      threshold: 1,
      periods: 1,
      says: "This region's functions may not call others: its roles, or what stands above them, deny it.",
    },
    {
      id: "server-errors",
      metric: api.metricServerError(sum),
      threshold: 20,
      periods: 1,
      says: "Callers are answered 5xx.",
    },
    {
      id: "auditor-errors",
      metric: functions.auditor.function.metricErrors(sum),
      threshold: 1,
      periods: 3,
      says: "The auditor fails: what was left behind is not recovered, what was deleted is not collected.",
    },
    ...inboxWatches(inbox),
    ...bookies.flatMap(({ writer, reader }, index) => [
      ...bookieWatches(`bookie-${index + 1}`, writer, "It is replaced in new fragments."),
      ...bookieWatches(`reader-${index + 1}`, reader, "Reads turn to the other copies."),
    ]),
  ];
}

/** One for each kind of request: an alarm over both would be metric math, which not every deployer takes. */
function inboxWatches(inbox: WatchedRegion["inbox"]): readonly Watch[] {
  const watch = (id: string, metric: string, says: string): Watch => ({
    id,
    metric: inbox.metric(metric, { statistic: "Sum", period: PERIOD }),
    threshold: 1,
    periods: 2,
    says: `The inbox table is throttled: ${says}`,
  });
  return [
    watch("inbox-reads", "ReadThrottleEvents", "appends to busy logs wait longer for an answer."),
    watch("inbox-writes", "WriteThrottleEvents", "appends to busy logs are refused."),
  ];
}

function bookieWatches(
  id: string,
  { function: bookie }: RegionalFunction,
  meanwhile: string,
): readonly Watch[] {
  const sum = { statistic: "Sum", period: PERIOD };
  return [
    {
      id: `${id}-errors`,
      metric: bookie.metricErrors(sum),
      threshold: 50,
      periods: 1,
      says: `A bookie's function fails: it does not start, or runs out of time. ${meanwhile}`,
    },
    {
      id: `${id}-throttles`,
      metric: bookie.metricThrottles(sum),
      threshold: 1,
      periods: 2,
      says: "A bookie is refused concurrency: raise the account's quota of concurrent executions.",
    },
  ];
}
