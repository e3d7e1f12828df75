/** A topology as stacks: one for the metadata of all, one for each region. */
import { type App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import type { FunctionCode } from "./function-code.ts";
import { MetadataStack } from "./metadata-stack.ts";
import { Names } from "./names.ts";
import { RegionStack } from "./region-stack.ts";
import { metadataRegions } from "./topology/metadata-regions.ts";
import type { Topology } from "./topology/topology.ts";

interface DeploymentProps {
  readonly topology: Topology;
  readonly code: FunctionCode;
  /** Absent: whichever account the credentials at deployment are of; nothing at synth depends on it. */
  readonly account?: string | undefined;
}

interface Deployment {
  readonly metadata: MetadataStack;
  readonly regions: ReadonlyMap<string, RegionStack>;
}

export function addDeployment(app: App, { topology, code, account }: DeploymentProps): Deployment {
  const names = new Names(topology);
  const tags = { deployment: names.deployment };
  const [metadataRegion] = metadataRegions(topology);
  const env = (region: string | undefined) => ({
    env: {
      ...(account === undefined ? {} : { account }),
      ...(region === undefined ? {} : { region }),
    },
  });
  const metadata = new MetadataStack(app, names.stack("metadata"), {
    ...env(metadataRegion),
    description: "Fenceline: the metadata of all regions.",
    terminationProtection: true,
    tags,
    topology,
    names,
    code,
  });
  const regions = new Map<string, RegionStack>();
  for (const home of topology.regions) {
    const stack = new RegionStack(app, names.stack(home.name), {
      ...env(home.name),
      description: `Fenceline: bookies and functions in ${home.name}.`,
      terminationProtection: true,
      tags,
      topology,
      home,
      names,
      code,
    });
    // Order alone; it makes no reference between them.
    stack.addStackDependency(metadata);
    regions.set(home.name, stack);
  }
  return { metadata, regions };
}

/** Makes synth fail for whatever the AWS Solutions rules find and nothing acknowledges. */
export function demandSolutionsChecks(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
