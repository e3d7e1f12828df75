/** A deployment whose metadata is read from a restored table: readers are pointed at it, writers stand still. */
import { describe, expect, it } from "vitest";
import { readRegionSettings } from "../../lib/environment.ts";
import type { Topology } from "../../lib/infra/topology/topology.ts";
import { five, home, regionTemplate, strong, templatesOf, topologyOf } from "./topologies.ts";

const names = five.slice(0, 3);
const restored = { table: "glog-restored", region: "us-east-1" };

describe.each([
  ["strong", strong],
  ["home", home],
] as const)("a restored table in mode %s", { timeout: 180_000 }, (mode, metadata) => {
  const before = templatesOf(topologyOf(3, metadata as Topology["metadata"]));
  const all = templatesOf({ ...topologyOf(3, metadata as Topology["metadata"]), restored });

  const functionOf = (name: string, role: string, templates = all) => {
    const found = Object.values(regionTemplate(templates, name).findResources("AWS::Lambda::Function"));
    return found.find(({ Properties }) => Properties.FunctionName === `glog-${role}`)?.Properties;
  };
  const statementsOf = (name: string, role: string) => {
    const roles = Object.values(regionTemplate(all, name).findResources("AWS::IAM::Role"));
    const [policy] =
      roles.find(({ Properties }) => Properties.RoleName === `glog-${name}-${role}`)?.Properties.Policies ??
      [];
    return [policy.PolicyDocument.Statement].flat();
  };

  it.each(names)("%s: read is told of it, and may read it and no other table", (name) => {
    const told = readRegionSettings(functionOf(name, "read")?.Environment.Variables).metadata;
    expect(told).toEqual({
      table: restored.table,
      mode, // the item in the table says so too, and another mode would be refused
      replicas: [restored.region],
      ...(mode === "home" ? { homeRegion: "us-east-1" } : {}),
    });
    const onTables = statementsOf(name, "read").filter(({ Action }) => `${Action}`.includes("dynamodb"));
    expect(onTables.map(({ Sid, Action }) => [Sid, Action])).toEqual([
      ["ReadRestored", ["dynamodb:GetItem", "dynamodb:Query"]],
    ]);
    const arns = JSON.stringify(onTables.map(({ Resource }) => Resource));
    expect(arns).toContain(":table/glog-restored");
    expect(arns).toContain("dynamodb:us-east-1:");
    expect(arns).not.toContain("glog-metadata");
  });

  it.each(names)(
    "%s: append and auditor serve no call, and know the deployment's own table alone",
    (name) => {
      for (const role of ["append", "auditor"]) {
        const { ReservedConcurrentExecutions, Environment } = functionOf(name, role) ?? {};
        expect(ReservedConcurrentExecutions).toBe(0);
        expect(readRegionSettings(Environment.Variables).metadata.table).toBe("glog-metadata");
        expect(JSON.stringify(statementsOf(name, role))).not.toContain("glog-restored");
        expect(functionOf(name, role, before)).not.toHaveProperty("ReservedConcurrentExecutions");
      }
      expect(functionOf(name, "read")).not.toHaveProperty("ReservedConcurrentExecutions");
    },
  );

  it("the tables, buckets and the guard stay as they were", () => {
    expect(all.metadata.toJSON()).toEqual(before.metadata.toJSON());
    for (const type of ["AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::DynamoDB::Table"]) {
      for (const name of names) {
        const kept = regionTemplate(before, name).findResources(type);
        expect(regionTemplate(all, name).findResources(type)).toEqual(kept);
      }
    }
  });
});
