/**
 * What each role may do, written out. A grant of CDK's own would give more than is used: `grantReadWrite` of
 * a bucket, for one, has every `s3:Delete*` and `s3:Abort*` in it.
 */
import { Arn, ArnFormat, type Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { BookieAccess } from "../environment.ts";
import type { Names } from "./names.ts";
import { metadataRegions } from "./topology/metadata-regions.ts";
import type { Topology, TopologyBookie } from "./topology/topology.ts";

const slotReads = ["s3:GetObject"];
/** Deleting serves the collection of DELETED ledgers (rule 15). */
const slotWrites = ["s3:PutObject", "s3:DeleteObject"];

/**
 * A bookie's function: its own bucket only. Without ListBucket a missing key reads as "access denied", which
 * is no answer at all (rule 21).
 */
export function mayUseBucket(bucket: Bucket, access: BookieAccess): readonly PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: "Slots",
      actions: access === "read" ? slotReads : [...slotReads, ...slotWrites],
      resources: [bucket.arnForObjects("*")],
    }),
    new PolicyStatement({ sid: "Keys", actions: ["s3:ListBucket"], resources: [bucket.bucketArn] }),
  ];
}

const metadataReads = ["dynamodb:GetItem", "dynamodb:Query"];
/** An item is put whole, under a condition that the put carries itself. */
const metadataWrites = ["dynamodb:PutItem", "dynamodb:DeleteItem"];
/** A lease outlives its holders: nobody deletes one. */
const leaseUses = ["dynamodb:GetItem", "dynamodb:PutItem"];
/** Requests are put and queried, answers read; answers are put, and requests deleted, in batches. */
const inboxUses = ["dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:BatchWriteItem"];

/** Metadata in every region that has a copy: a caller turns to the next one when its own is silent. */
export function mayReadMetadata(stack: Stack, topology: Topology, names: Names): PolicyStatement {
  return new PolicyStatement({
    sid: "ReadMetadata",
    actions: metadataReads,
    resources: metadataRegions(topology).map((region) => tableArn(stack, region, names.metadataTable)),
  });
}

/** Of the `read` function: the restored table in the place of the deployment's own, if there is one. */
export function mayReadForReaders(stack: Stack, topology: Topology, names: Names): PolicyStatement {
  const { restored } = topology;
  if (restored === undefined) return mayReadMetadata(stack, topology, names);
  return new PolicyStatement({
    sid: "ReadRestored",
    actions: metadataReads,
    resources: [tableArn(stack, restored.region, restored.table)],
  });
}

export function mayWriteMetadata(stack: Stack, topology: Topology, names: Names): PolicyStatement {
  const { metadata } = topology;
  // In mode home every write goes to the home, and the role holds no right to do otherwise.
  const regions = metadata.mode === "home" ? [metadata.home] : metadata.replicas;
  return new PolicyStatement({
    sid: "WriteMetadata",
    actions: metadataWrites,
    resources: regions.map((region) => tableArn(stack, region, names.metadataTable)),
  });
}

export function mayUseLeases(stack: Stack, names: Names): PolicyStatement {
  return new PolicyStatement({
    sid: "Leases",
    actions: leaseUses,
    resources: [tableArn(stack, stack.region, names.leaseTable)],
  });
}

export function mayUseInbox(stack: Stack, names: Names): PolicyStatement {
  return new PolicyStatement({
    sid: "Inbox",
    actions: inboxUses,
    resources: [tableArn(stack, stack.region, names.inboxTable)],
  });
}

/** Every bookie of the deployment, by the name of the one or the other of its functions. */
export function mayInvokeBookies(
  stack: Stack,
  topology: Topology,
  names: Names,
  access: BookieAccess,
): PolicyStatement {
  const functionOf = (bookie: TopologyBookie) =>
    access === "read" ? names.readerFunction(bookie) : names.bookieFunction(bookie);
  return mayInvoke(
    stack,
    "Bookies",
    topology.regions.flatMap(({ name, bookies }) =>
      bookies.map((bookie) => [name, functionOf(bookie)] as const),
    ),
  );
}

/** The append function of every listed region: to forward, and to ask owners. */
export function mayInvokeAppends(stack: Stack, topology: Topology, names: Names): PolicyStatement {
  return mayInvoke(
    stack,
    "Appends",
    topology.regions.map(({ name }) => [name, names.function("append")] as const),
  );
}

/** One's own region's append function: for readers, who have a tail settled by it (rule 14). */
export function mayInvokeOwnAppend(stack: Stack, names: Names): PolicyStatement {
  return mayInvoke(stack, "OwnAppend", [[stack.region, names.function("append")]]);
}

export function mayWriteLog(logGroup: LogGroup): PolicyStatement {
  return new PolicyStatement({
    sid: "OwnLog",
    actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
    resources: [logGroup.logGroupArn],
  });
}

function mayInvoke(
  stack: Stack,
  sid: string,
  functions: readonly (readonly [region: string, name: string])[],
): PolicyStatement {
  return new PolicyStatement({
    sid,
    actions: ["lambda:InvokeFunction"],
    resources: functions.map(([region, name]) => functionArn(stack, region, name)),
  });
}

function functionArn(stack: Stack, region: string, name: string): string {
  const parts = { service: "lambda", resource: "function", resourceName: name, region };
  return Arn.format({ ...parts, arnFormat: ArnFormat.COLON_RESOURCE_NAME }, stack);
}

function tableArn(stack: Stack, region: string, name: string): string {
  return Arn.format({ service: "dynamodb", resource: "table", resourceName: name, region }, stack);
}
