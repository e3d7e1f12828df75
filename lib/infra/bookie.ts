/**
 * A bookie: one bucket, and the two functions that may touch it. One writes; the other's role may read and
 * list, and no more, and it is the only one that a region's `read` function may call.
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
import { type BookieAccess, bookieVariables } from "../environment.ts";
import type { FunctionCode } from "./function-code.ts";
import type { Names } from "./names.ts";
import { mayUseBucket } from "./permissions.ts";
import { bookieSettings } from "./region-settings.ts";
import { RegionalFunction, seconds } from "./regional-function.ts";
import type { Topology, TopologyBookie } from "./topology/topology.ts";

interface BookieProps {
  /** The auditor function, which knows the registry. */
  readonly auditor: RegionalFunction;
  readonly topology: Topology;
  readonly names: Names;
  readonly code: FunctionCode;
  readonly bookie: TopologyBookie;
}

export class Bookie extends Construct {
  readonly writer: RegionalFunction;
  readonly reader: RegionalFunction;
  /** There once the new bucket carries its marker. */
  readonly marked: CustomResource;

  constructor(scope: Construct, id: string, props: BookieProps) {
    super(scope, id);
    const { names, bookie } = props;
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
    this.writer = this.#function("Bookie", "write", bucket, props);
    this.reader = this.#function("Reader", "read", bucket, props);
    this.marked = new CustomResource(this, `Marker-${bookie.storage}`, {
      resourceType: "Custom::FencelineBookie",
      serviceToken: this.writer.function.functionArn,
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
    acknowledge(bucket, [this.writer, this.reader]);
  }

  #function(id: string, access: BookieAccess, bucket: Bucket, props: BookieProps): RegionalFunction {
    const { topology, names, bookie, code } = props;
    const { region } = Stack.of(this);
    const reads = access === "read";
    const settings = { region, bookie, bucket: bucket.bucketName, access };
    return new RegionalFunction(this, id, {
      functionName: reads ? names.readerFunction(bookie) : names.bookieFunction(bookie),
      roleName: names.role(region, `${reads ? "reader" : "bookie"}-${bookie.name}`),
      description: `Bookie ${names.bookieId(region, bookie)} in ${bookie.rack}${reads ? ": reads." : "."}`,
      code: code("bookie"),
      environment: bookieVariables(bookieSettings(topology, names, settings)),
      memoryMb: 1_024,
      timeout: seconds(30),
      retentionDays: topology.retentionDays,
      permissions: mayUseBucket(bucket, access),
    });
  }
}

function acknowledge(bucket: Bucket, functions: readonly RegionalFunction[]): void {
  Validations.of(bucket).acknowledge({
    id: "AwsSolutions-S1",
    reason:
      "Its own two functions alone reach this bucket, by their own roles; an access log would double the " +
      "cost of each slot. Who needs one turns on CloudTrail data events.",
  });
  for (const one of functions) {
    Validations.of(one).acknowledge({
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
