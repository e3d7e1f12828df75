/**
 * One region: its bookies, its functions, its lease table, its REST API, and what watches over them.
 *
 * RS1 It refers to nothing in another stack. What is elsewhere it knows by name, so that stacks are deployed
 *     in any order and a region is added by deploying one more, the others changing in place.
 */
import { CfnOutput, CustomResource, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { Alarms } from "./alarms.ts";
import { AuditorSchedule } from "./auditor-schedule.ts";
import { Bookie } from "./bookie.ts";
import { Dashboard } from "./dashboard.ts";
import type { FunctionCode } from "./function-code.ts";
import { HttpApi } from "./http-api.ts";
import { LeaseTable } from "./lease-table.ts";
import type { Names } from "./names.ts";
import { RegionFunctions } from "./region-functions.ts";
import { acknowledgeShared } from "./stack-acknowledgements.ts";
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
    const leases = new LeaseTable(this, "Leases", names);
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
