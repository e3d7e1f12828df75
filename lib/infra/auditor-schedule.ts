/** Runs a region's auditor over and over. Two at once do no harm, and one that is missed is made up for. */
import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as LambdaTarget } from "aws-cdk-lib/aws-events-targets";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Names } from "./names.ts";

const EVERY = Duration.minutes(5);

export class AuditorSchedule extends Construct {
  constructor(scope: Construct, id: string, { names, auditor }: { names: Names; auditor: LambdaFunction }) {
    super(scope, id);
    new Rule(this, "Rule", {
      ruleName: `${names.deployment}-audit`,
      description: "Recovery of what was left behind, collection of what was deleted.",
      schedule: Schedule.rate(EVERY),
      targets: [new LambdaTarget(auditor, { retryAttempts: 0 })],
    });
  }
}
