/** A region more, a bookie more, a bucket in place of another: what that does to what is there. */
import type { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import type { Topology } from "../../lib/infra/topology/topology.ts";
import { home, regionTemplate, resourcesOf, strong, templatesOf, topologyOf } from "./topologies.ts";

const stateful = ["AWS::S3::Bucket", "AWS::DynamoDB::GlobalTable"];
/** Properties that may change without a replacement, of the resources that do change. */
const changesInPlace: Readonly<Record<string, readonly string[]>> = {
  "AWS::Lambda::Function": ["Environment"],
  "AWS::IAM::Role": ["Policies"],
  "Custom::FencelineTopology": ["Bookies"],
  "AWS::DynamoDB::GlobalTable": ["Replicas", "StreamSpecification"],
  "AWS::CloudWatch::Dashboard": ["DashboardBody"],
};

/** What differs: resources gone, and properties changed, as `id.property`. New resources do not count. */
function differences(before: Template, after: Template): { gone: string[]; changed: string[] } {
  const [old, now] = [resourcesOf(before), resourcesOf(after)];
  const gone = Object.keys(old).filter((id) => now[id] === undefined);
  const changed = Object.entries(old).flatMap(([id, { Type, Properties = {} }]) => {
    const others = now[id]?.Properties ?? {};
    return [...new Set([...Object.keys(Properties), ...Object.keys(others)])]
      .filter((name) => JSON.stringify(Properties[name]) !== JSON.stringify(others[name]))
      .map((name) => `${Type}.${name}`);
  });
  return { gone, changed: [...new Set(changed)] };
}

function expectInPlace(before: Template, after: Template): void {
  const { gone, changed } = differences(before, after);
  expect(gone).toEqual([]);
  const allowed = Object.entries(changesInPlace).flatMap(([type, names]) =>
    names.map((name) => `${type}.${name}`),
  );
  expect(changed.filter((one) => !allowed.includes(one))).toEqual([]);
}

describe.each([
  ["strong", strong],
  ["home", home],
] as const)("in mode %s", { timeout: 180_000 }, (_, metadata) => {
  test("a region more changes the others in place and touches nothing stateful", () => {
    const [before, after] = [templatesOf(topologyOf(3, metadata)), templatesOf(topologyOf(4, metadata))];
    expect(after.regions.size).toBe(4);
    for (const name of before.regions.keys()) {
      const [old, now] = [regionTemplate(before, name), regionTemplate(after, name)];
      expectInPlace(old, now);
      for (const [id, resource] of Object.entries(resourcesOf(old))) {
        if (stateful.includes(resource.Type)) expect(resourcesOf(now)[id]).toEqual(resource);
      }
      // It would be blind to everything if the functions did not know the new region.
      expect(differences(old, now).changed).toContain("AWS::Lambda::Function.Environment");
    }
    expectInPlace(before.metadata, after.metadata);
  });

  test("a bookie more leaves the others' buckets and functions as they are", () => {
    const before = topologyOf(3, metadata);
    const after: Topology = structuredClone(before);
    after.regions[1]?.bookies.push({ name: "b3", rack: "use2-az3", storage: "freshone" });
    expectInPlace(
      regionTemplate(templatesOf(before), "us-east-2"),
      regionTemplate(templatesOf(after), "us-east-2"),
    );
  });
});

test("rule 21: another storage identity is another bucket, marked and registered anew; the old one is kept", {
  timeout: 180_000,
}, () => {
  const before = topologyOf(3, strong);
  const after: Topology = structuredClone(before);
  const bookie = after.regions[0]?.bookies[0];
  if (bookie !== undefined) bookie.storage = "freshone";
  const [old, now] = [before, after].map((one) => resourcesOf(regionTemplate(templatesOf(one), "us-east-1")));
  const idsOf = (all: typeof old, type: string) =>
    Object.entries(all ?? {}).flatMap(([id, { Type }]) => (Type === type ? [id] : []));
  for (const type of ["AWS::S3::Bucket", "Custom::FencelineBookie", "Custom::FencelineRegistration"]) {
    const [left, stayed] = [idsOf(old, type), idsOf(now, type)];
    expect(stayed.filter((id) => !left.includes(id))).toHaveLength(1);
    const gone = left.filter((id) => !stayed.includes(id));
    expect(gone).toHaveLength(1);
    expect(old?.[gone[0] ?? ""]?.DeletionPolicy).toMatch(/^Retain/);
  }
});

test("where replicas for stale reads are added in mode home, the table changes in place", {
  timeout: 180_000,
}, () => {
  const more: Topology["metadata"] = { mode: "home", home: "us-east-1", replicas: ["us-west-2"] };
  const [before, after] = [templatesOf(topologyOf(3, home)), templatesOf(topologyOf(3, more))];
  expectInPlace(before.metadata, after.metadata);
});
