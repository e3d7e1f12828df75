/**
 * One region: its bookies, its functions, its lease table, its REST API, and what watches over them.
 *
 * RS1 It refers to nothing in another stack. What is elsewhere it knows by name, so that stacks are deployed
 *     in any order and a region is added by deploying one more, the others changing in place.
 */
import {
  CfnOutput,
  CustomResource,
  Duration,
  RemovalPolicy,
  Stack,
  type StackProps,
  Validations,
} from "aws-cdk-lib";
import { AttributeType, Billing, type TablePropsV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as LambdaTarget } from "aws-cdk-lib/aws-events-targets";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { inboxExpiry, tableKeys } from "../environment.ts";
import { Alarms } from "./alarms.ts";
import { Bookie } from "./bookie.ts";
import { Dashboard } from "./dashboard.ts";
import type { FunctionCode } from "./function-code.ts";
import { HttpApi } from "./http-api.ts";
import type { Names } from "./names.ts";
import { RegionFunctions } from "./region-functions.ts";
import type { Topology, TopologyRegion } from "./topology/topology.ts";

interface RegionStackProps extends StackProps {
  readonly topology: Topology;
  readonly home: TopologyRegion;
  readonly names: Names;
  readonly code: FunctionCode;
}

export class RegionStack extends Stack {
  constructor(scope: Construct, id: string, props: RegionStackProps) {
    super(scope, id, props);
    const { topology, home, names } = props;
    const leases = new RegionTable(this, "Leases", { tableName: names.leaseTable });
    // Apart from the leases, which posted appends could throttle otherwise.
    const inbox = new RegionTable(this, "Inbox", {
      tableName: names.inboxTable,
      sortKey: { name: tableKeys.sort, type: AttributeType.STRING },
      timeToLiveAttribute: inboxExpiry,
    });
    const functions = new RegionFunctions(this, "Functions", props);
    const bookies = home.bookies.map(
      (bookie) => new Bookie(this, `Bookie-${bookie.name}`, { ...props, auditor: functions.auditor, bookie }),
    );
    const registrations = home.bookies.map((bookie, index) => {
      const registered = new CustomResource(this, `Registered-${bookie.name}-${bookie.storage}`, {
        resourceType: "Custom::FencelineRegistration",
        serviceToken: functions.auditor.function.functionArn,
        properties: { BookieId: names.bookieId(home.name, bookie), Rack: bookie.rack },
        removalPolicy: RemovalPolicy.RETAIN,
      });
      const marked = bookies[index]?.marked;
      if (marked !== undefined) registered.node.addDependency(marked);
      registered.node.addDependency(leases.table);
      return registered;
    });
    const { append, read, auditor } = functions;
    // Its environment names them, and it may not call the others.
    read.function.node.addDependency(...bookies.map(({ reader }) => reader.function));
    const { api } = new HttpApi(this, "Http", {
      names,
      retentionDays: topology.retentionDays,
      reads: topology.reads,
      allowedOrigins: topology.allowedOrigins,
      functions: { append: append.function, read: read.function },
    });
    const schedule = new AuditorSchedule(this, "Audit", { names, auditor: auditor.function });
    // A pass registers what is there, which must not come before a claim.
    schedule.node.addDependency(...registrations);
    const watched = {
      names,
      region: home.name,
      api,
      functions,
      bookies,
      inbox: inbox.table,
    };
    new Dashboard(this, "Dashboard", watched);
    new Alarms(this, "Alarms", watched);
    acknowledgeShared(this);
    this.#printCommands(api.url, names);
  }

  /** Lines that can be run as they stand. */
  #printCommands(url: string, names: Names): void {
    const endpoint = url.replace(/\/$/, "");
    new CfnOutput(this, "Region", { value: this.region });
    new CfnOutput(this, "Endpoint", { value: endpoint });
    new CfnOutput(this, "AppendFunction", { value: names.function("append") });
    new CfnOutput(this, "ReadFunction", { value: names.function("read") });
    const command = `npx fenceline --outputs cdk-outputs.json --region ${this.region}`;
    new CfnOutput(this, "TryCreate", { value: `${command} create orders` });
    new CfnOutput(this, "TryAppend", { value: `echo first | ${command} append orders` });
    new CfnOutput(this, "TryRead", { value: `${command} read orders` });
    new CfnOutput(this, "TryRegions", { value: `${command} region list` });
  }
}

/**
 * A table of the region's own. None holds a record: what is lost of leases (rules 16 to 20) costs recoveries,
 * what is lost of an inbox (36 to 41) makes outcomes unknown.
 */
class RegionTable extends Construct {
  readonly table: TableV2;

  constructor(
    scope: Construct,
    id: string,
    own: Pick<TablePropsV2, "tableName" | "sortKey" | "timeToLiveAttribute">,
  ) {
    super(scope, id);
    this.table = new TableV2(this, "Table", {
      ...own,
      partitionKey: { name: tableKeys.partition, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      deletionProtection: true,
      // A lease restored from yesterday would be stale, and an answer's caller has gone.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false },
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }
}

/** Runs a region's auditor over and over. Two at once do no harm, and one that is missed is made up for. */
const EVERY = Duration.minutes(5);

class AuditorSchedule extends Construct {
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

/** Findings of cdk-nag that hold for a whole stack, each with its reason. */
function acknowledgeShared(stack: Stack): void {
  Validations.of(stack).acknowledge({
    id: "AwsSolutions-DDB3",
    reason:
      "A lease that came back from the past would be stale, and what an inbox holds is waited for a few " +
      "seconds. The tables hold no record; when they are lost, logs are recovered and go on.",
  });
}
