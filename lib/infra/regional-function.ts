/** A Lambda function as all of them are: arm64, its own role with nothing but its own log, kept logs. */
import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, type Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { CODE_HANDLER } from "./function-code.ts";
import { mayWriteLog } from "./permissions.ts";

export interface RegionalFunctionProps {
  readonly functionName: string;
  readonly roleName: string;
  readonly description: string;
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly memoryMb: number;
  readonly timeout: Duration;
  readonly retentionDays: number;
  readonly permissions: readonly PolicyStatement[];
  /** No call is served. */
  readonly isStopped?: boolean;
}

export class RegionalFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: RegionalFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, "Log", {
      logGroupName: `/aws/lambda/${props.functionName}`,
      // CDK's enumeration is of these very numbers; the topology allows no others.
      retention: props.retentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "Role", {
      roleName: props.roleName,
      description: `What ${props.functionName} may do in ${Stack.of(this).region}.`,
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      // In the role itself, so that the function cannot be there before what it may do.
      inlinePolicies: {
        permissions: new PolicyDocument({ statements: [...props.permissions, mayWriteLog(logGroup)] }),
      },
    });
    this.function = new LambdaFunction(this, "Function", {
      functionName: props.functionName,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: CODE_HANDLER,
      code: props.code,
      environment: { ...props.environment },
      memorySize: props.memoryMb,
      ...(props.isStopped === true ? { reservedConcurrentExecutions: 0 } : {}),
      timeout: props.timeout,
      role: role.withoutPolicyUpdates(),
      logGroup,
    });
  }
}

export const seconds = (count: number): Duration => Duration.seconds(count);
