/** What a dashboard and alarms of one region look at. */

import { Duration } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { Metric, Stats, Unit } from "aws-cdk-lib/aws-cloudwatch";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Names } from "./names.ts";
import type { RegionFunctions } from "./region-functions.ts";
import type { RegionalFunction } from "./regional-function.ts";

export interface WatchedRegion {
  readonly names: Names;
  readonly region: string;
  readonly api: RestApi;
  readonly functions: RegionFunctions;
  readonly bookies: readonly Readonly<Record<"writer" | "reader", RegionalFunction>>[];
  readonly inbox: TableV2;
}

/** What the functions count of themselves, by the names that they give it. */
export const countedByFunctions = [
  "fenced",
  "writersStopped",
  "recoveries",
  "ensembleChanges",
  "hedges",
  "forwards",
  "ownerRequests",
  "unknownOutcomes",
  "callsDenied",
] as const;
type Counted = (typeof countedByFunctions)[number];

const METRIC_NAMESPACE = "Fenceline";
export const PERIOD = Duration.minutes(5);

export function counted({ names, region }: Pick<WatchedRegion, "names" | "region">, name: Counted): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { service: names.deployment, region },
    statistic: Stats.SUM,
    unit: Unit.COUNT,
    period: PERIOD,
  });
}
