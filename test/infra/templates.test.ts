/** What is deployed, read from the templates: for 1, 2, 3 and 5 regions, and for both metadata modes. */
import { Match, type Template } from "aws-cdk-lib/assertions";
import { describe, expect, it, test } from "vitest";
import { readBookieSettings, readRegionSettings } from "../../lib/environment.ts";
import type { Topology } from "../../lib/infra/topology/topology.ts";
import {
  five,
  home,
  parsed,
  regionTemplate,
  resourcesOf,
  strong,
  type Templates,
  templatesOf,
  topologyOf,
  variablesOf,
  withWitness,
} from "./topologies.ts";

const templates = (count: number, metadata: Topology["metadata"]) => templatesOf(topologyOf(count, metadata));

interface Statement {
  readonly Sid: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** A role's statements, by its name's end; nothing is granted but in the role itself. */
function statements(template: Template, what: string): readonly Statement[] {
  template.resourceCountIs("AWS::IAM::Policy", 0);
  const roles = Object.values(template.findResources("AWS::IAM::Role"));
  const role = roles.find(({ Properties }) => String(Properties.RoleName).endsWith(what));
  if (role === undefined) throw new Error(`no role ${what}`);
  expect(role.Properties.ManagedPolicyArns).toBeUndefined();
  return role.Properties.Policies.flatMap(
    (one: { PolicyDocument: { Statement: Statement[] } }) => one.PolicyDocument.Statement,
  );
}

function actionsOf(granted: readonly Statement[]): readonly string[] {
  return granted.flatMap(({ Action }) => Action).sort();
}

/** What a role may invoke, as the template has it. */
function invokedBy(granted: readonly Statement[]): readonly string[] {
  return granted
    .filter(({ Action }) => Action === "lambda:InvokeFunction")
    .flatMap(({ Resource }) => Resource)
    .map((arn) => JSON.stringify(arn));
}

describe("the metadata table", { timeout: 180_000 }, () => {
  const tableOf = ({ metadata }: Templates) => {
    const [table] = Object.values(metadata.findResources("AWS::DynamoDB::GlobalTable"));
    return table;
  };

  it.each([
    [1, strong, ["us-east-1", "us-east-2", "us-west-2"], undefined],
    [2, withWitness, ["us-east-1", "us-west-2"], [{ Region: "us-east-2" }]],
    [3, strong, ["us-east-1", "us-east-2", "us-west-2"], undefined],
    [5, strong, ["us-east-1", "us-east-2", "us-west-2"], undefined],
  ] as const)(
    "%i regions, strong: MRSC with its replicas and witness",
    (count, metadata, replicas, witnesses) => {
      const { Properties } = tableOf(templates(count, metadata)) ?? {};
      expect(Properties.MultiRegionConsistency).toBe("STRONG");
      expect(Properties.Replicas.map(({ Region }: { Region: string }) => Region).sort()).toEqual(replicas);
      expect(Properties.GlobalTableWitnesses).toEqual(witnesses);
    },
  );

  it.each([1, 3, 5])("%i regions, home: eventually consistent, in the home alone", (count) => {
    const { Properties } = tableOf(templates(count, home)) ?? {};
    expect(Properties.MultiRegionConsistency).toBeUndefined();
    expect(Properties.Replicas.map(({ Region }: { Region: string }) => Region)).toEqual(["us-east-1"]);
  });

  test("home: listed replicas hold copies for stale reads, and no role may write to them", () => {
    const topology = topologyOf(3, { mode: "home", home: "us-east-1", replicas: ["us-west-2"] });
    const all = templatesOf(topology);
    const { Properties } = tableOf(all) ?? {};
    expect(Properties.Replicas).toHaveLength(2);
    const append = statements(regionTemplate(all, "us-west-2"), "-append");
    const tables = (sid: string) => JSON.stringify(append.find(({ Sid }) => Sid === sid)?.Resource);
    expect(tables("ReadMetadata")).toContain("us-west-2");
    expect(tables("WriteMetadata")).not.toContain("us-west-2");
  });

  it.each([
    [3, strong],
    [2, withWitness],
    [3, home],
  ] as const)("%i regions, %j: kept, protected, with PITR, without TTL and indexes", (count, metadata) => {
    const table = tableOf(templates(count, metadata));
    expect(table).toMatchObject({ DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
    for (const key of ["TimeToLiveSpecification", "LocalSecondaryIndexes", "GlobalSecondaryIndexes"]) {
      expect(table?.Properties).not.toHaveProperty(key);
    }
    for (const replica of table?.Properties.Replicas ?? []) {
      expect(replica).toMatchObject({
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      });
    }
  });
});

test("each function of a bookie is told how entries are kept", { timeout: 180_000 }, () => {
  const all = templatesOf({ ...topologyOf(1, home), storageClass: "INTELLIGENT_TIERING" });
  for (const name of ["bookie-b1", "reader-b1", "bookie-b2", "reader-b2"]) {
    const variables = variablesOf(regionTemplate(all, "us-east-1"), `glog-${name}`);
    const { storageClass } = readBookieSettings({ ...variables, FENCELINE_BUCKET: "a token" });
    expect(storageClass).toBe("INTELLIGENT_TIERING");
  }
});

describe("the answers of reads", { timeout: 180_000 }, () => {
  const integrationsOf = (reads: Topology["reads"]) => {
    const template = regionTemplate(templatesOf({ ...topologyOf(1, home), reads }), "us-east-1");
    const methods = Object.values(template.findResources("AWS::ApiGateway::Method"));
    return methods.map(({ Properties }) => ({
      serves: JSON.stringify(Properties.Integration.Uri).includes("FunctionsRead") ? "read" : "append",
      transfer: Properties.Integration.ResponseTransferMode,
      path: /(\d{4}-\d\d-\d\d).*\/((?:response-streaming-)?invocations)/
        .exec(JSON.stringify(Properties.Integration.Uri))
        ?.slice(1)
        .join(" "),
      type: Properties.Integration.Type,
    }));
  };

  test("are streamed if the topology says so, and no others", () => {
    const all = integrationsOf("stream");
    const kinds = new Set(
      all.map(({ serves, transfer, path, type }) => `${serves} ${transfer} ${path} ${type}`),
    );
    expect([...kinds].sort()).toEqual([
      "append undefined 2015-03-31 invocations AWS_PROXY",
      "read STREAM 2021-11-15 response-streaming-invocations AWS_PROXY",
    ]);
    const template = regionTemplate(templatesOf({ ...topologyOf(1, home), reads: "stream" }), "us-east-1");
    expect(readRegionSettings(variablesOf(template, "glog-read")).reads).toBe("stream");
    expect(parsed({ ...topologyOf(1, home), reads: undefined }).reads).toBe("buffered");
  });

  test("are given whole by default", () => {
    const all = integrationsOf("buffered");
    expect(new Set(all.map(({ serves, transfer, path }) => `${serves} ${transfer} ${path}`))).toEqual(
      new Set(["append undefined 2015-03-31 invocations", "read undefined 2015-03-31 invocations"]),
    );
  });
});

describe.each([
  [1, strong],
  [2, withWitness],
  [3, strong],
  [5, strong],
  [1, home],
  [3, home],
  [5, home],
] as const)("with %i regions and metadata %j", { timeout: 180_000 }, (count, metadata) => {
  const all = templates(count, metadata);
  const names = five.slice(0, count);

  test("there is a stack for each region, and none refers to another", () => {
    expect([...all.regions.keys()]).toEqual(names);
    for (const template of [all.metadata, ...all.regions.values()]) {
      const text = JSON.stringify(template.toJSON());
      expect(text).not.toContain("Fn::ImportValue");
      expect(text).not.toContain("Fn::GetStackOutput");
      expect(text).not.toContain("CrossRegionExport");
      for (const output of Object.values(template.toJSON().Outputs))
        expect(output).not.toHaveProperty("Export");
    }
  });

  test("each bookie has a bucket that is private, encrypted, TLS only, kept, and without lifecycle rules", () => {
    for (const [name, template] of all.regions) {
      template.resourceCountIs("AWS::S3::Bucket", 2);
      for (const bucket of Object.values(template.findResources("AWS::S3::Bucket"))) {
        expect(bucket).toMatchObject({
          DeletionPolicy: "RetainExceptOnCreate",
          UpdateReplacePolicy: "Retain",
        });
        expect(bucket.Properties).not.toHaveProperty("LifecycleConfiguration");
        expect(bucket.Properties.PublicAccessBlockConfiguration).toEqual({
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        });
        expect(JSON.stringify(bucket.Properties.BucketEncryption)).toContain("AES256");
        expect(JSON.stringify(bucket.Properties.BucketName)).toContain(`-${name}-b`);
      }
      const denies = Match.objectLike({
        Effect: "Deny",
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      });
      template.allResourcesProperties("AWS::S3::BucketPolicy", {
        PolicyDocument: Match.objectLike({ Statement: Match.arrayWith([denies]) }),
      });
    }
  });

  test("functions are arm64, nodejs24.x, in their own logs", () => {
    for (const template of all.regions.values()) {
      template.resourceCountIs("AWS::Lambda::Function", 7);
      template.allResourcesProperties("AWS::Lambda::Function", {
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        LoggingConfig: { LogGroup: Match.anyValue() },
      });
      template.allResourcesProperties("AWS::Logs::LogGroup", { RetentionInDays: 30 });
    }
  });

  test("functions read what they are told, and all regions are told the same", () => {
    for (const [name, template] of all.regions) {
      for (const role of ["append", "read", "auditor"]) {
        const settings = readRegionSettings(variablesOf(template, `glog-${role}`));
        expect(settings.regions.map(({ region }) => region)).toEqual(names);
        expect(settings.bookies).toHaveLength(2 * count);
        expect(settings.bookies[0]?.id).toBe("us-east-1.b1~store0b1");
        const called = role === "read" ? "glog-reader-b1" : "glog-bookie-b1";
        expect(settings.bookies[0]?.functionName).toBe(called);
        expect(settings.metadata.mode).toBe(metadata.mode);
        if (metadata.replicas.includes(name)) expect(settings.metadata.replicas[0]).toBe(name);
      }
      for (const [what, access] of [
        ["bookie", "write"],
        ["reader", "read"],
      ] as const) {
        const variables = variablesOf(template, `glog-${what}-b2`);
        const told = readBookieSettings({ ...variables, FENCELINE_BUCKET: "a token" });
        expect(told.bookieId).toBe(`${name}.b2~store${names.indexOf(name)}b2`);
        expect(told.access).toBe(access);
        const bucket = (one: string) => variablesOf(template, `glog-${one}-b2`).FENCELINE_BUCKET;
        expect(bucket(what)).toEqual(bucket("bookie"));
      }
    }
  });

  test("read may call nothing that writes a slot, and has tails settled by its own region's append", () => {
    for (const [name, template] of all.regions) {
      const granted = statements(template, "-read");
      expect(actionsOf(granted)).toEqual([
        "dynamodb:GetItem",
        "dynamodb:Query",
        "lambda:InvokeFunction",
        "lambda:InvokeFunction",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
      ]);
      const invoked = invokedBy(granted);
      const readers = invoked.filter((arn) => /:function:glog-reader-b[12]"/.test(arn));
      expect(readers).toHaveLength(2 * count);
      const others = invoked.filter((arn) => !readers.includes(arn));
      expect(others).toHaveLength(1);
      expect(others[0]).toMatch(new RegExp(`lambda:${name}:.*:function:glog-append"`));
    }
  });

  test("nobody but read may call the functions that only read", () => {
    for (const template of all.regions.values()) {
      for (const { Properties } of Object.values(template.findResources("AWS::IAM::Role"))) {
        const mayCallReaders = JSON.stringify(Properties.Policies ?? []).includes("glog-reader-b");
        expect(mayCallReaders).toBe(/-read$/.test(String(Properties.RoleName)));
      }
    }
  });

  test("append invokes the bookies and appends of the listed regions, and no other function", () => {
    for (const template of all.regions.values()) {
      const granted = statements(template, "-append");
      const arns = invokedBy(granted);
      expect(arns).toHaveLength(3 * count);
      for (const arn of arns) expect(arn).toMatch(/:function:glog-(append|bookie-b[12])"/);
      expect(actionsOf(granted).join()).not.toContain("s3:");
    }
  });

  test.each([
    ["bookie", ["s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"]],
    ["reader", ["s3:GetObject", "s3:ListBucket"]],
  ])("a %s reaches its own bucket alone, to %j, and calls nobody", (what, actions) => {
    for (const template of all.regions.values()) {
      const buckets = Object.keys(template.findResources("AWS::S3::Bucket"));
      for (const name of ["b1", "b2"]) {
        const granted = statements(template, `-${what}-${name}`);
        expect(actionsOf(granted)).toEqual(["logs:CreateLogStream", "logs:PutLogEvents", ...actions]);
        const own = granted.filter(({ Sid }) => ["Slots", "Keys"].includes(Sid));
        const named = buckets.filter((bucket) => JSON.stringify(own).includes(bucket));
        expect(named).toHaveLength(1);
        expect(named[0]).toContain(`Bookie${name}`);
      }
    }
  });

  test("every route wants a signature, is throttled, and is told in an access log", () => {
    for (const template of all.regions.values()) {
      template.allResourcesProperties("AWS::ApiGateway::Method", { AuthorizationType: "AWS_IAM" });
      template.hasResourceProperties("AWS::ApiGateway::Stage", {
        AccessLogSetting: { DestinationArn: Match.anyValue() },
        MethodSettings: [Match.objectLike({ ThrottlingRateLimit: 5_000, DataTraceEnabled: false })],
      });
      template.hasResourceProperties("AWS::ApiGateway::RestApi", {
        EndpointConfiguration: { Types: ["REGIONAL"] },
      });
    }
  });

  test("leases have a protected table of their own, the auditor a schedule, the region a dashboard and alarms", () => {
    for (const template of all.regions.values()) {
      template.hasResource("AWS::DynamoDB::GlobalTable", {
        DeletionPolicy: "Retain",
        Properties: {
          TableName: "glog-leases",
          Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })],
        },
      });
      template.hasResourceProperties("AWS::Events::Rule", { ScheduleExpression: "rate(5 minutes)" });
      template.resourceCountIs("AWS::CloudWatch::Dashboard", 1);
      template.resourcePropertiesCountIs("AWS::CloudWatch::Alarm", { TreatMissingData: "notBreaching" }, 15);
    }
  });

  test("the inbox has a protected table of its own that forgets by age, and alarms on its throttles", () => {
    for (const template of all.regions.values()) {
      template.hasResource("AWS::DynamoDB::GlobalTable", {
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          TableName: "glog-inbox",
          BillingMode: "PAY_PER_REQUEST",
          KeySchema: [
            { AttributeName: "pk", KeyType: "HASH" },
            { AttributeName: "sk", KeyType: "RANGE" },
          ],
          TimeToLiveSpecification: { AttributeName: "expires", Enabled: true },
          Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })],
        },
      });
      const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
      const own = alarms.filter(({ Properties }) => /-inbox-(reads|writes)$/.test(Properties.AlarmName));
      expect(own.map(({ Properties }) => Properties.MetricName).sort()).toEqual([
        "ReadThrottleEvents",
        "WriteThrottleEvents",
      ]);
      expect(readRegionSettings(variablesOf(template, "glog-append")).inboxTable).toBe("glog-inbox");
    }
  });

  test("outputs are commands that can be run as they stand", () => {
    for (const [name, template] of all.regions) {
      const { TryAppend, Endpoint } = template.toJSON().Outputs;
      expect(TryAppend.Value).toBe(
        `echo first | npx fenceline --outputs cdk-outputs.json --region ${name} append orders`,
      );
      expect(Endpoint).toBeDefined();
    }
  });

  test("a region's markers come before its registration (rule 21)", () => {
    for (const template of all.regions.values()) {
      const registrations = Object.values(resourcesOf(template)).filter(
        ({ Type }) => Type === "Custom::FencelineRegistration",
      );
      expect(registrations).toHaveLength(2);
      for (const one of registrations) {
        expect(JSON.stringify((one as { DependsOn?: unknown }).DependsOn)).toContain("Marker");
      }
    }
  });
});
