/** The one stack of the deployment's metadata: the global table and the guard over the topology. */
import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { FunctionCode } from "./function-code.ts";
import { GlobalTable } from "./global-table.ts";
import type { Names } from "./names.ts";
import { survivableLosses } from "./topology/survivable-losses.ts";
import type { Topology } from "./topology/topology.ts";
import { TopologyGuard } from "./topology-guard.ts";

interface MetadataStackProps extends StackProps {
  readonly topology: Topology;
  readonly names: Names;
  readonly code: FunctionCode;
}

export class MetadataStack extends Stack {
  constructor(scope: Construct, id: string, props: MetadataStackProps) {
    super(scope, id, props);
    const { topology, names } = props;
    const { table } = new GlobalTable(this, "Metadata", topology, names);
    const guard = new TopologyGuard(this, "TopologyGuard", topology, props);
    guard.resource.node.addDependency(table);
    new CfnOutput(this, "MetadataTable", { value: table.tableName });
    new CfnOutput(this, "MetadataMode", { value: topology.metadata.mode });
    new CfnOutput(this, "SurvivableLosses", {
      value: survivableLosses(topology)
        .map(({ words }) => words)
        .join(". "),
    });
    new CfnOutput(this, "RestoreWarning", {
      value:
        "A table restored from a point in time is older than the slots. Start from it read-only; see " +
        "Restore in docs/OPERATING.md before anything writes.",
    });
  }
}
