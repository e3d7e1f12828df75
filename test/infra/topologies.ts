/** Topologies for tests, and their templates, made from code that is one empty function. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { addDeployment, demandSolutionsChecks } from "../../lib/infra/deployment.ts";
import { parseTopology } from "../../lib/infra/topology/read-topology.ts";
import { zonePrefix } from "../../lib/infra/topology/region-sets.ts";
import type { Topology } from "../../lib/infra/topology/topology.ts";

export const five = ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"];

export const strong: Topology["metadata"] = { mode: "strong", replicas: five.slice(0, 3) };
export const withWitness: Topology["metadata"] = {
  mode: "strong",
  replicas: ["us-east-1", "us-west-2"],
  witness: "us-east-2",
};
export const home: Topology["metadata"] = { mode: "home", home: "us-east-1", replicas: [] };

/** The first `count` of five regions with two bookies each. */
export function topologyOf(count: number, metadata: Topology["metadata"]): Topology {
  return {
    format: 1,
    namePrefix: "glog",
    metadata,
    regions: five.slice(0, count).map((name, at) => ({
      name,
      bookies: [1, 2].map((n) => ({
        name: `b${n}`,
        rack: `${zonePrefix(name)}-az${n}`,
        storage: `store${at}b${n}`,
      })),
    })),
    storageClass: "STANDARD",
    reads: "buffered",
    allowedOrigins: [],
    presets: count === 1 ? ["single-region"] : ["standard", "economy"],
    retentionDays: 30,
    logLevel: "info",
  };
}

/** Checked as a file would be. */
export function parsed(topology: unknown): Topology {
  return parseTopology(JSON.stringify(topology), "topology.json");
}

let stub: string | undefined;
function stubFolder(): string {
  if (stub === undefined) {
    stub = mkdtempSync(join(tmpdir(), "fenceline-stub-"));
    mkdirSync(stub, { recursive: true });
    writeFileSync(join(stub, "index.js"), "exports.handler = async () => ({});\n");
  }
  return stub;
}

export interface Templates {
  readonly metadata: Template;
  readonly regions: ReadonlyMap<string, Template>;
}

const made = new Map<string, Templates>();

/** Made once for each topology of a test file; its users only read them. */
export function templatesOf(topology: Topology): Templates {
  const key = JSON.stringify(topology);
  const known = made.get(key) ?? synthesised(topology);
  made.set(key, known);
  return known;
}

/**
 * `checked`: with cdk-nag and with CDK's own rules, which throw for whatever they find. Unchecked, those rules
 * would only warn, and take most of the time.
 */
export function synthesised(topology: Topology, checked = false): Templates {
  const app = new App({
    context: { "@aws-cdk/core:validateAgainstDefaultRules": checked },
    builtinCloudFormationValidation: checked,
    treeMetadata: false,
    analyticsReporting: false,
    stackTraces: false,
  });
  const code = () => Code.fromAsset(stubFolder());
  const { metadata, regions } = addDeployment(app, { topology: parsed(topology), code });
  if (checked) demandSolutionsChecks(app);
  return {
    metadata: Template.fromStack(metadata),
    regions: new Map([...regions].map(([name, stack]) => [name, Template.fromStack(stack)])),
  };
}

export interface CfnResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

export function resourcesOf(template: Template): Readonly<Record<string, CfnResource>> {
  return template.toJSON().Resources;
}

export function regionTemplate(templates: Templates, name: string): Template {
  const found = templates.regions.get(name);
  if (found === undefined) throw new Error(`no stack of ${name}`);
  return found;
}

export function variablesOf(template: Template, functionName: string): Record<string, string> {
  const found = Object.values(template.findResources("AWS::Lambda::Function"));
  const one = found.find(({ Properties }) => Properties.FunctionName === functionName);
  return one?.Properties.Environment.Variables;
}
