/** The functions that a region has one each of, and what each of them may do. */
import { Stack } from "aws-cdk-lib";
import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { type RegionSettings, regionVariables } from "../environment.ts";
import type { FunctionCode } from "./function-code.ts";
import type { FunctionRole, Names } from "./names.ts";
import {
  mayInvokeAppends,
  mayInvokeBookies,
  mayInvokeOwnAppend,
  mayReadForReaders,
  mayReadMetadata,
  mayUseInbox,
  mayUseLeases,
  mayWriteMetadata,
} from "./permissions.ts";
import { readSettings, regionSettings } from "./region-settings.ts";
import { RegionalFunction, type RegionalFunctionProps, seconds } from "./regional-function.ts";
import type { Topology } from "./topology/topology.ts";

interface RegionFunctionsProps {
  readonly topology: Topology;
  readonly names: Names;
  readonly code: FunctionCode;
}

/** API Gateway waits for 29 s; a caller that it cuts off does not learn what became of the request. */
const sizes: Readonly<Record<FunctionRole, Pick<RegionalFunctionProps, "memoryMb" | "timeout">>> = {
  append: { memoryMb: 1_769, timeout: seconds(29) },
  read: { memoryMb: 1_769, timeout: seconds(29) },
  auditor: { memoryMb: 1_024, timeout: seconds(900) },
};

const descriptions: Readonly<Record<FunctionRole, string>> = {
  append: "Creates logs, appends, forwards to owners, recovers.",
  read: "Reads records and describes logs; changes nothing.",
  auditor: "Recovers what was left behind and collects what was deleted, on a schedule.",
};

export class RegionFunctions extends Construct {
  readonly append: RegionalFunction;
  readonly read: RegionalFunction;
  readonly auditor: RegionalFunction;

  constructor(scope: Construct, id: string, props: RegionFunctionsProps) {
    super(scope, id);
    this.append = this.#function("Append", "append", props);
    this.read = this.#function("Read", "read", props);
    this.auditor = this.#function("Auditor", "auditor", props);
  }

  #function(id: string, role: FunctionRole, props: RegionFunctionsProps): RegionalFunction {
    const { topology, names, code } = props;
    const { region } = Stack.of(this);
    return new RegionalFunction(this, id, {
      ...sizes[role],
      functionName: names.function(role),
      roleName: names.role(region, role),
      description: descriptions[role],
      code: code(role),
      environment: regionVariables(settingsOf(role, topology, names, region)),
      retentionDays: topology.retentionDays,
      permissions: permissionsOf(role, Stack.of(this), props),
      isStopped: topology.restored !== undefined && role !== "read",
    });
  }
}

function settingsOf(role: FunctionRole, topology: Topology, names: Names, region: string): RegionSettings {
  if (role === "read") return readSettings(topology, names, region);
  return regionSettings(topology, names, region, "write");
}

/**
 * `read` has no right to write anywhere: it knows and may call the reading functions of bookies only. It may
 * ask its own region's append function to settle a tail (rule 14).
 */
function permissionsOf(
  role: FunctionRole,
  stack: Stack,
  { topology, names }: RegionFunctionsProps,
): readonly PolicyStatement[] {
  if (role === "read") {
    return [
      mayReadForReaders(stack, topology, names),
      mayInvokeBookies(stack, topology, names, "read"),
      mayInvokeOwnAppend(stack, names),
    ];
  }
  return [
    mayReadMetadata(stack, topology, names),
    mayInvokeBookies(stack, topology, names, "write"),
    mayInvokeAppends(stack, topology, names),
    mayWriteMetadata(stack, topology, names),
    mayUseLeases(stack, names),
    // The auditor serves nobody and posts nothing.
    ...(role === "append" ? [mayUseInbox(stack, names)] : []),
  ];
}
