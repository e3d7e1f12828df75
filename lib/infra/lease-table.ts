/** Writer leases of one region (rules 16 to 20). What is lost here costs a recovery and no record. */
import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import { tableKeys } from "../environment.ts";
import type { Names } from "./names.ts";

export class LeaseTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, names: Names) {
    super(scope, id);
    this.table = new TableV2(this, "Table", {
      tableName: names.leaseTable,
      partitionKey: { name: tableKeys.partition, type: AttributeType.STRING },
      billing: Billing.onDemand(),
      deletionProtection: true,
      // A lease restored from yesterday would be a stale one; what it protects does not depend on it.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false },
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }
}
