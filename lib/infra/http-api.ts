/**
 * A region's REST API: every route signed with AWS credentials, throttled, and recorded in an access log that
 * carries no payload. A REST API and not an HTTP API, since it can stream and emulators have it.
 *
 * HA1 Every body of a request is binary, so that functions get its octets, in base 64: as text the gateway
 *     would replace what is no UTF-8, in JSON and in lines of text too, and the replaced record would be
 *     acknowledged. A list of types would leave out the next one. Answers that are text stay text, whatever
 *     their reader's Accept says.
 */
import { RemovalPolicy, Validations } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  type LambdaIntegrationOptions,
  LogGroupLogDestination,
  MethodLoggingLevel,
  type RequestValidator,
  ResponseTransferMode,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { ResponseTransfer } from "../environment.ts";
import { addPreflights } from "./cross-origin.ts";
import { addGatewayProblems } from "./gateway-problems.ts";
import { type HttpRoute, httpRoutes } from "./http-routes.ts";
import type { Names } from "./names.ts";

interface HttpApiProps {
  readonly names: Names;
  readonly retentionDays: number;
  /** How it takes the answers of `read`. */
  readonly reads: ResponseTransfer;
  /** Origins whose pages may send requests. */
  readonly allowedOrigins: readonly string[];
  readonly functions: Readonly<Record<HttpRoute["role"], LambdaFunction>>;
}

/** Requests a second and in one burst, of everybody together: below the account's own default of 10,000. */
const RATE = 5_000;
const BURST = 2_500;
const STAGE = "live";
const LOG_POLICY = "AmazonAPIGatewayPushToCloudWatchLogs";

export class HttpApi extends Construct {
  readonly api: RestApi;

  constructor(scope: Construct, id: string, props: HttpApiProps) {
    super(scope, id);
    const accessLog = new LogGroup(this, "AccessLog", {
      logGroupName: `/aws/apigateway/${props.names.deployment}`,
      // CDK's enumeration is of these very numbers; the topology allows no others.
      retention: props.retentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, "Api", {
      restApiName: props.names.deployment,
      description: "Fenceline: a globally replicated, fenced log.",
      endpointTypes: [EndpointType.REGIONAL],
      // HA1
      binaryMediaTypes: ["*/*"],
      cloudWatchRole: true,
      deployOptions: {
        stageName: STAGE,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.jsonWithStandardFields(),
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        metricsEnabled: true,
        throttlingRateLimit: RATE,
        throttlingBurstLimit: BURST,
      },
    });
    const validator = this.api.addRequestValidator("Parameters", {
      validateRequestParameters: true,
      validateRequestBody: true,
    });
    this.#addRoutes(props, validator);
    addPreflights(this.api, props.allowedOrigins);
    addGatewayProblems(this.api, props.allowedOrigins);
    acknowledge(this.api);
  }

  #addRoutes({ functions, reads }: HttpApiProps, requestValidator: RequestValidator): void {
    // One permission for each function: one for each route would outgrow a function's policy.
    const integrate = (target: LambdaFunction, more: LambdaIntegrationOptions = {}) =>
      new LambdaIntegration(target, { proxy: true, scopePermissionToMethod: false, ...more });
    // What buffers says nothing of it: then the template is what it was before there was a choice.
    const streaming = reads === "stream" ? { responseTransferMode: ResponseTransferMode.STREAM } : {};
    const integrations = { append: integrate(functions.append), read: integrate(functions.read, streaming) };
    for (const { method, path, role } of httpRoutes) {
      this.api.root.resourceForPath(path).addMethod(method, integrations[role], {
        authorizationType: AuthorizationType.IAM,
        requestValidator,
      });
    }
  }
}

function acknowledge(api: RestApi): void {
  Validations.of(api).acknowledge(
    {
      id: "AwsSolutions-APIG3",
      reason: "Unsigned requests are refused before a function runs; who is exposed to floods adds a WAF.",
    },
    {
      id: "AwsSolutions-COG4",
      reason: "Callers are programs with AWS credentials: IAM authorisation on every method, no user pool.",
    },
    {
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${LOG_POLICY}]`,
      reason:
        "API Gateway writes its logs with one role per account and region, and documents this policy for it.",
    },
  );
}
