/**
 * A bookie: one bucket, and the one function that may touch it.
 *
 * BK1 The bucket's identity is in the logical ids as well as in the names. Another identity is another bucket
 *     beside the old one, which is kept, and never the old one emptied (rule 21).
 * BK2 No lifecycle rule touches slots, fences or seals (rule 15); parts of abandoned uploads cannot arise,
 *     since nothing is uploaded in parts.
 * BK3 It is kept whatever becomes of its stack. Only a first deployment that fails before the marker is in it
 *     takes it away: a bucket with its marker is not empty, and CloudFormation deletes none that is not.
 * BK4 The marker is put only after the registry was asked and did not know this identity: a bucket that was
 *     lost and made anew under its old name would otherwise deny what it held (rule 21).
 */
import { CustomResource, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { BlockPublicAccess, Bucket, BucketEncryption, CfnBucket, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { bookieVariables } from "../environment.ts";
import type { FunctionCode } from "./function-code.ts";
import type { Names } from "./names.ts";
import { mayUseBucket } from "./permissions.ts";
import { bookieSettings } from "./region-settings.ts";
import { RegionalFunction, seconds } from "./regional-function.ts";
import type { Topology, TopologyBookie } from "./topology/topology.ts";

export interface BookieProps {
  /** The auditor function, which knows the registry. */
  readonly auditor: RegionalFunction;
  readonly topology: Topology;
  readonly names: Names;
  readonly code: FunctionCode;
  readonly bookie: TopologyBookie;
}

export class Bookie extends Construct {
  readonly lambda: RegionalFunction;
  /** There once the new bucket carries its marker. */
  readonly marked: CustomResource;

  constructor(scope: Construct, id: string, props: BookieProps) {
    super(scope, id);
    const { topology, names, bookie } = props;
    const { account, region } = Stack.of(this);
    const bucket = new Bucket(this, `Slots-${bookie.storage}`, {
      bucketName: names.bucket(account, region, bookie),
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, // BK3
    });
    this.lambda = new RegionalFunction(this, "Bookie", {
      functionName: names.bookieFunction(bookie),
      roleName: names.role(region, `bookie-${bookie.name}`),
      description: `Bookie ${names.bookieId(region, bookie)} in ${bookie.rack}.`,
      code: props.code("bookie"),
      environment: bookieVariables(
        bookieSettings(topology, names, { region, bookie, bucket: bucket.bucketName }),
      ),
      memoryMb: 1_024,
      timeout: seconds(30),
      retentionDays: topology.retentionDays,
      permissions: mayUseBucket(bucket),
    });
    this.marked = new CustomResource(this, `Marker-${bookie.storage}`, {
      resourceType: "Custom::FencelineBookie",
      serviceToken: this.lambda.function.functionArn,
      properties: { BookieId: names.bookieId(region, bookie) },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    // BK4
    const claim = new CustomResource(this, `Claim-${bookie.storage}`, {
      resourceType: "Custom::FencelineClaim",
      serviceToken: props.auditor.function.functionArn,
      properties: { ClaimedBookie: names.bookieId(region, bookie) },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.marked.node.addDependency(bucket, claim);
    Validations.of(bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason:
        "One function alone reaches this bucket, by its own role; an access log would double the cost of " +
        "each slot. Who needs one turns on CloudTrail data events.",
    });
    Validations.of(this.lambda).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${logicalIdOf(bucket)}.Arn>/*]`,
      reason: "Slots are named by ledgers yet to come: every key of its own bucket, and no other bucket.",
    });
  }
}

function logicalIdOf(bucket: Bucket): string {
  const resource = bucket.node.defaultChild;
  if (!(resource instanceof CfnBucket)) throw new TypeError(`${bucket.node.path} is no bucket`);
  return Stack.of(bucket).getLogicalId(resource);
}
