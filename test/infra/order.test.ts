/** What comes before what when a deployment is made, what protects it, and what its outputs say. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { addDeployment } from "../../lib/infra/deployment.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { FaultyEndpoint } from "../cli/faulty-endpoint.ts";
import { run } from "../cli/run-command.ts";
import { home, regionTemplate, strong, templatesOf, topologyOf } from "./topologies.ts";

interface Resource {
  readonly Type: string;
  readonly DependsOn?: string | readonly string[];
  readonly Properties?: Readonly<Record<string, unknown>>;
}

const resourcesOf = (template: Template): Readonly<Record<string, Resource>> => template.toJSON().Resources;

/** Whatever must be there before it, directly or not. */
function earlierThan(template: Template, id: string, seen = new Set<string>()): ReadonlySet<string> {
  const { DependsOn = [], Properties } = resourcesOf(template)[id] ?? expect.fail(`no resource ${id}`);
  const named = [...JSON.stringify(Properties ?? {}).matchAll(/"(?:Ref|Fn::GetAtt)":(?:\[)?"(\w+)"/g)];
  for (const one of [DependsOn, named.map(([, name]) => name ?? "")].flat(2)) {
    if (seen.has(one) || resourcesOf(template)[one] === undefined) continue;
    seen.add(one);
    earlierThan(template, one, seen);
  }
  return seen;
}

const idsOf = (template: Template, type: string): readonly string[] =>
  Object.entries(resourcesOf(template)).flatMap(([id, { Type }]) => (Type === type ? [id] : []));

describe("a deployment", { timeout: 180_000 }, () => {
  test("changes its metadata stack, where the guard is, before any other, and deletes none unasked", () => {
    const app = new App({ treeMetadata: false, analyticsReporting: false });
    const code = () => Code.fromInline("exports.handler = async () => ({});");
    const { metadata, regions } = addDeployment(app, { topology: topologyOf(3, strong), code });
    for (const stack of regions.values()) {
      expect(stack.dependencies).toEqual([metadata]);
      expect(stack.terminationProtection).toBe(true);
    }
    expect(metadata.terminationProtection).toBe(true);
  });

  test("the guard is told of every bookie, and asked when there is a table to ask", () => {
    const { metadata } = templatesOf(topologyOf(3, strong));
    const [guard = ""] = idsOf(metadata, "Custom::FencelineTopology");
    const { Bookies } = resourcesOf(metadata)[guard]?.Properties ?? {};
    expect(Bookies).toEqual(
      ["us-east-1", "us-east-2", "us-west-2"].flatMap((name, at) =>
        ["b1", "b2"].map((bookie) => `${name}.${bookie}~store${at}${bookie}`),
      ),
    );
    const [table = ""] = idsOf(metadata, "AWS::DynamoDB::GlobalTable");
    expect(earlierThan(metadata, guard)).toContain(table);
  });

  test("read is there when the readers are that it is told of", () => {
    const template = regionTemplate(templatesOf(topologyOf(3, home)), "us-east-2");
    const named = (name: string) =>
      idsOf(template, "AWS::Lambda::Function").find(
        (id) => resourcesOf(template)[id]?.Properties?.FunctionName === name,
      ) ?? expect.fail(`no function ${name}`);
    const before = earlierThan(template, named("glog-read"));
    for (const one of ["glog-reader-b1", "glog-reader-b2"]) expect(before).toContain(named(one));
  });

  test("rule 21: claim, marker, registration, and only then the auditor's schedule", () => {
    const template = regionTemplate(templatesOf(topologyOf(3, home)), "us-east-2");
    const [claims, markers, registrations, schedules] = [
      "Custom::FencelineClaim",
      "Custom::FencelineBookie",
      "Custom::FencelineRegistration",
      "AWS::Events::Rule",
    ].map((type) => idsOf(template, type));
    expect(markers).toHaveLength(2);
    const suffix = (id: string) => /(store1b\d)/.exec(id)?.[1] ?? id;
    for (const marker of markers ?? []) {
      const claim = claims?.find((one) => suffix(one) === suffix(marker)) ?? "none";
      expect(earlierThan(template, marker)).toContain(claim);
    }
    for (const registration of registrations ?? []) {
      const marker = markers?.find((one) => suffix(one) === suffix(registration)) ?? "none";
      expect(earlierThan(template, registration)).toContain(marker);
    }
    for (const id of schedules ?? []) {
      for (const registration of registrations ?? [])
        expect(earlierThan(template, id)).toContain(registration);
    }
  });

  test("a restored table's danger is said where the table's name is", () => {
    const { RestoreWarning } = templatesOf(topologyOf(3, strong)).metadata.toJSON().Outputs;
    expect(RestoreWarning.Value).toMatch(/older than the slots\. Start from it read-only/);
  });
});

describe("the command lines that a region prints", { timeout: 180_000 }, () => {
  let scratch: ScratchDirectory;
  let endpoint: FaultyEndpoint;

  beforeEach(async () => {
    scratch = await ScratchDirectory.make();
    endpoint = await FaultyEndpoint.open();
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"])
      vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDTEST");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "a secret of this test");
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await endpoint[Symbol.asyncDispose]();
    await scratch.remove();
  });

  /** As a shell would run it, `npx fenceline` being this build and the file lying elsewhere. */
  async function typed(line: string, outputs: string) {
    const [, input, , rest = ""] = /^(?:echo (\S+) \| )?(npx fenceline) (.*)$/.exec(line) ?? [];
    const args = rest.split(" ").map((word) => (word === "cdk-outputs.json" ? outputs : word));
    return await run(args, input === undefined ? "" : `${input}\n`);
  }

  it.each(["us-east-1", "us-west-2"])("%s: create, append, read and list, as they stand", async (name) => {
    const { Outputs } = regionTemplate(templatesOf(topologyOf(3, strong)), name).toJSON();
    const outputs = join(scratch.path, "cdk-outputs.json");
    const told = Object.entries<{ Value: unknown }>(Outputs).map(([key, { Value }]) => [key, Value]);
    await writeFile(
      outputs,
      JSON.stringify({ [`glog-${name}`]: { ...Object.fromEntries(told), Endpoint: endpoint.url } }),
    );
    const lines = told.filter(([key]) => String(key).startsWith("Try"));
    expect(lines.map(([key]) => key)).toEqual(["TryCreate", "TryAppend", "TryRead", "TryRegions"]);
    for (const [key, line] of lines) {
      const { code, err, out } = await typed(String(line), outputs);
      expect({ key, code, err: code === 0 ? "" : err }).toEqual({ key, code: 0, err: "" });
      if (key === "TryRead") expect(out).toContain("first");
    }
    expect(endpoint.bodies("orders")).toEqual(["first"]);
  });
});
