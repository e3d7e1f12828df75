/**
 * Refuses a deployment that drops a region or a bookie while anything lives there. The metadata stack goes
 * first, so a refusal stops the deployment before any other stack has changed.
 */
import { CustomResource, Stack } from "aws-cdk-lib";
import { Construct } from "constructs";
import { regionVariables } from "../environment.ts";
import type { FunctionCode } from "./function-code.ts";
import type { Names } from "./names.ts";
import { mayReadMetadata } from "./permissions.ts";
import { regionSettings } from "./region-settings.ts";
import { RegionalFunction, seconds } from "./regional-function.ts";
import type { Topology } from "./topology/topology.ts";

export class TopologyGuard extends Construct {
  readonly resource: CustomResource;

  constructor(
    scope: Construct,
    id: string,
    topology: Topology,
    { names, code }: { readonly names: Names; readonly code: FunctionCode },
  ) {
    super(scope, id);
    const stack = Stack.of(this);
    const guard = new RegionalFunction(this, "Guard", {
      functionName: names.topologyGuard,
      roleName: names.role(stack.region, "topology-guard"),
      description: "Asked by each deployment whether a region or bookie that it drops still holds anything.",
      code: code("topology-guard"),
      environment: regionVariables(regionSettings(topology, names, stack.region, "read")),
      memoryMb: 512,
      timeout: seconds(60),
      retentionDays: topology.retentionDays,
      permissions: [mayReadMetadata(stack, topology, names)],
    });
    this.resource = new CustomResource(this, "Topology", {
      resourceType: "Custom::FencelineTopology",
      serviceToken: guard.function.functionArn,
      properties: {
        Bookies: topology.regions.flatMap(({ name, bookies }) =>
          bookies.map((bookie) => names.bookieId(name, bookie)),
        ),
      },
    });
  }
}
