/** One region at a glance: what callers see, what the functions do, what the protocol met. */
import { Dashboard as CloudWatchDashboard, GraphWidget, type IMetric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { counted, countedByFunctions, PERIOD, type WatchedRegion } from "./watched-region.ts";

const WIDTH = 8;

export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, watched: WatchedRegion) {
    super(scope, id);
    const { names, region, api, functions, bookies } = watched;
    const { append, read } = functions;
    const each = (metric: "Duration" | "Errors" | "Throttles", statistic: string): IMetric[] =>
      [append, read, ...bookies.flatMap(({ writer, reader }) => [writer, reader])].map(({ function: one }) =>
        one.metric(metric, {
          statistic,
          period: PERIOD,
          label: one.node.path.split("/").slice(1, 3).join(" "),
        }),
      );
    new CloudWatchDashboard(this, "Dashboard", {
      dashboardName: `${names.deployment}-${region}`,
      widgets: [
        [
          graph("Requests", [api.metricCount({ statistic: "Sum", period: PERIOD })]),
          graph("Answers 4xx and 5xx", [
            api.metricClientError({ statistic: "Sum", period: PERIOD }),
            api.metricServerError({ statistic: "Sum", period: PERIOD }),
          ]),
          graph("Time to answer, ms", [
            api.metricLatency({ statistic: "p50", period: PERIOD, label: "p50" }),
            api.metricLatency({ statistic: "p99", period: PERIOD, label: "p99" }),
          ]),
        ],
        [
          graph("Function time, p99, ms", each("Duration", "p99")),
          graph("Function errors", each("Errors", "Sum")),
          graph("Throttles", each("Throttles", "Sum")),
        ],
        [
          graph(
            "What the protocol met",
            countedByFunctions.map((name) => counted(watched, name)),
          ),
        ],
      ],
    });
  }
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: WIDTH });
}
