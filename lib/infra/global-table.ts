/**
 * The metadata table of the whole deployment.
 *
 * GT1 It has no TTL and no secondary index of any kind: multi-region strong consistency supports neither
 *     TTL nor a local index, CDK accepts both, and nothing here needs them in mode `home` either.
 * GT2 Its mode is fixed when it is made.
 */
import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, MultiRegionConsistency, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import { tableKeys } from "../environment.ts";
import type { Names } from "./names.ts";
import { metadataRegions } from "./topology/metadata-regions.ts";
import type { Topology } from "./topology/topology.ts";

export class GlobalTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, topology: Topology, names: Names) {
    super(scope, id);
    const { metadata } = topology;
    const [, ...others] = metadataRegions(topology);
    const isStrong = metadata.mode === "strong";
    this.table = new TableV2(this, "Table", {
      tableName: names.metadataTable,
      partitionKey: { name: tableKeys.partition, type: AttributeType.STRING },
      sortKey: { name: tableKeys.sort, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      deletionProtection: true,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: RemovalPolicy.RETAIN,
      replicas: others.map((region) => ({
        region,
        deletionProtection: true,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      })),
      ...(isStrong ? { multiRegionConsistency: MultiRegionConsistency.STRONG } : {}),
      ...(isStrong && metadata.witness !== undefined ? { witnessRegion: metadata.witness } : {}),
    });
  }
}
