/** Least privilege, statement by statement: what each role may do, to what, and nothing in any other words. */
import type { Template } from "aws-cdk-lib/assertions";
import { describe, expect, it, test } from "vitest";
import type { Topology } from "../../lib/infra/topology/topology.ts";
import { five, home, regionTemplate, strong, templatesOf, topologyOf } from "./topologies.ts";

interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** By the roles' names: what is granted, as `sid: actions on resources`. */
function grants(template: Template): ReadonlyMap<string, readonly Statement[]> {
  template.resourceCountIs("AWS::IAM::Policy", 0);
  template.resourceCountIs("AWS::IAM::ManagedPolicy", 0);
  const roles = Object.values(template.findResources("AWS::IAM::Role"));
  const ours = roles.filter(({ Properties }) => Properties.RoleName !== undefined);
  // The one role without a name is API Gateway's own, for its logs.
  expect(roles.length - ours.length).toBeLessThanOrEqual(1);
  return new Map(
    ours.map(({ Properties }) => [
      String(Properties.RoleName),
      Properties.Policies.flatMap((one: { PolicyDocument: { Statement: Statement[] } }) =>
        [one.PolicyDocument.Statement].flat(),
      ),
    ]),
  );
}

/** `table:us-east-1:glog-metadata`, `function:us-west-2:glog-append`: whatever is not one of these stands out. */
function namesOf({ Resource }: Statement): readonly string[] {
  return [Resource].flat().map((one) => {
    const text = JSON.stringify(one);
    const found = /:(dynamodb|lambda):([a-z0-9-]+):"?.*:?(table\/|function:)([a-z0-9-]+)"/.exec(text);
    if (found === null) return text;
    return `${found[3]?.replace(/[:/]/, "")} ${found[2]} ${found[4]}`;
  });
}

const log = { OwnLog: ["logs:CreateLogStream", "logs:PutLogEvents"] };
const reading = {
  ReadMetadata: ["dynamodb:GetItem", "dynamodb:Query"],
  Bookies: ["lambda:InvokeFunction"],
  Appends: ["lambda:InvokeFunction"],
};
/** What the stores send, and nothing more: items are put whole, leases are never deleted. */
const writing = {
  WriteMetadata: ["dynamodb:PutItem", "dynamodb:DeleteItem"],
  Leases: ["dynamodb:GetItem", "dynamodb:PutItem"],
};

const sidsOf = (granted: readonly Statement[]) => granted.map(({ Sid }) => Sid ?? "nameless").sort();
const bySid = (granted: readonly Statement[], sid: string): Statement => {
  const found = granted.find(({ Sid }) => Sid === sid);
  return found ?? expect.fail(`no statement ${sid}`);
};

describe.each([
  ["strong", strong, five.slice(0, 3)],
  ["home", home, ["us-east-1"]],
] as const)("roles in mode %s", { timeout: 180_000 }, (_, metadata, replicas) => {
  const all = templatesOf(topologyOf(3, metadata as Topology["metadata"]));
  const names = five.slice(0, 3);
  const tables = replicas.map((region) => `table ${region} glog-metadata`);
  const functions = (role: string) => names.map((region) => `function ${region} glog-${role}`);
  const bookies = (role: "bookie" | "reader") =>
    names.flatMap((one) => ["b1", "b2"].map((b) => `function ${one} glog-${role}-${b}`));

  it.each(names)("%s: append alone uses the inbox, its own region's", (name) => {
    const granted = grants(regionTemplate(all, name));
    const own = granted.get(`glog-${name}-append`) ?? [];
    // What the store sends: BatchWriteItem asks no right to put or to delete.
    expect([bySid(own, "Inbox").Action].flat()).toEqual([
      "dynamodb:GetItem",
      "dynamodb:Query",
      "dynamodb:PutItem",
      "dynamodb:BatchWriteItem",
    ]);
    expect(namesOf(bySid(own, "Inbox"))).toEqual([`table ${name} glog-inbox`]);
    for (const [role, others] of granted) {
      if (role !== `glog-${name}-append`) expect(JSON.stringify(others)).not.toContain("glog-inbox");
    }
  });

  it.each(names)("%s: append and auditor read and write metadata and their own leases", (name) => {
    const granted = grants(regionTemplate(all, name));
    for (const role of ["append", "auditor"]) {
      const own = granted.get(`glog-${name}-${role}`) ?? [];
      expect(sidsOf(own)).toEqual([
        "Appends",
        "Bookies",
        ...(role === "append" ? ["Inbox"] : []),
        "Leases",
        "OwnLog",
        "ReadMetadata",
        "WriteMetadata",
      ]);
      for (const [sid, actions] of Object.entries({ ...reading, ...writing, ...log })) {
        expect([bySid(own, sid).Action].flat()).toEqual(actions);
      }
      expect(namesOf(bySid(own, "WriteMetadata"))).toEqual(tables);
      expect(namesOf(bySid(own, "ReadMetadata"))).toEqual(tables);
      expect(namesOf(bySid(own, "Leases"))).toEqual([`table ${name} glog-leases`]);
      expect(namesOf(bySid(own, "Bookies"))).toEqual(bookies("bookie"));
      expect(namesOf(bySid(own, "Appends"))).toEqual(functions("append"));
    }
  });

  it.each(names)("%s: read reads, and has whom it needs to ask", (name) => {
    const own = grants(regionTemplate(all, name)).get(`glog-${name}-read`) ?? [];
    expect(sidsOf(own)).toEqual(["Bookies", "OwnAppend", "OwnLog", "ReadMetadata"]);
    expect([bySid(own, "ReadMetadata").Action].flat()).toEqual(reading.ReadMetadata);
    expect(namesOf(bySid(own, "ReadMetadata"))).toEqual(tables);
    expect([bySid(own, "Bookies").Action].flat()).toEqual(reading.Bookies);
    expect(namesOf(bySid(own, "Bookies"))).toEqual(bookies("reader"));
    expect([bySid(own, "OwnAppend").Action].flat()).toEqual(reading.Appends);
    expect(namesOf(bySid(own, "OwnAppend"))).toEqual([`function ${name} glog-append`]);
  });

  test("the guard over the topology reads metadata, and nothing else", () => {
    const granted = grants(all.metadata);
    expect([...granted.keys()]).toEqual(["glog-us-east-1-topology-guard"]);
    const own = [...granted.values()].flat();
    expect(sidsOf(own)).toEqual(["OwnLog", "ReadMetadata"]);
    expect([bySid(own, "ReadMetadata").Action].flat()).toEqual(reading.ReadMetadata);
    expect(namesOf(bySid(own, "ReadMetadata"))).toEqual(tables);
  });

  test("nobody is granted an action or a resource by a wildcard, but a bookie its own bucket's keys", () => {
    for (const template of [all.metadata, ...all.regions.values()]) {
      for (const [role, granted] of grants(template)) {
        for (const statement of granted) {
          expect(statement.Effect).toBe("Allow");
          expect([statement.Action].flat().join()).not.toContain("*");
          const text = JSON.stringify(statement.Resource);
          if (/-(bookie|reader)-/.test(role) && statement.Sid === "Slots")
            expect(text).toMatch(/"Arn"\]},"\/\*"\]/);
          else expect(text).not.toContain("*");
        }
      }
    }
  });
});
