/**
 * The CDK app: the topology file, checked whole, as stacks.
 *
 *     npx cdk synth                                       # offline, no account needed
 *     npx cdk deploy --all --outputs-file cdk-outputs.json
 *     npx cdk deploy --all --context topology=other.json
 *     FENCELINE_CDK_ROLES=none npx cdk deploy --all       # with one's own rights, not the bootstrap's roles
 */
import { App, CliCredentialsStackSynthesizer, type IReusableStackSynthesizer } from "aws-cdk-lib";
import { addDeployment, demandSolutionsChecks } from "../lib/infra/deployment.ts";
import { bundledCode } from "../lib/infra/function-code.ts";
import { environmentSize } from "../lib/infra/topology/environment-size.ts";
import { readTopology, TopologyError } from "../lib/infra/topology/read-topology.ts";
import { storageClassWarnings } from "../lib/infra/topology/storage-class.ts";
import { survivableLosses } from "../lib/infra/topology/survivable-losses.ts";
import type { Topology } from "../lib/infra/topology/topology.ts";

async function main(): Promise<void> {
  const app = new App(ownCredentials() ? { defaultStackSynthesizer: withOwnRights() } : {});
  const topology = readTopology(String(app.node.tryGetContext("topology") ?? "topology.json"));
  tellLimits(topology);
  addDeployment(app, {
    topology,
    code: await bundledCode(".fenceline/functions"),
    account: process.env.CDK_DEFAULT_ACCOUNT,
  });
  demandSolutionsChecks(app);
  app.synth();
}

/** Where the roles that the bootstrap made may not be assumed, the deployment uses the caller's rights. */
function ownCredentials(): boolean {
  return process.env.FENCELINE_CDK_ROLES === "none";
}

function withOwnRights(): IReusableStackSynthesizer {
  // Their declarations differ in what may be undefined, and in nothing else.
  return new CliCredentialsStackSynthesizer() as IReusableStackSynthesizer;
}

function tellLimits(topology: Topology): void {
  for (const { words, warnings } of survivableLosses(topology)) {
    process.stderr.write(`preset ${words}.\n`);
    for (const warning of warnings) process.stderr.write(`  warning: ${warning}\n`);
  }
  const size = environmentSize(topology);
  if (size !== undefined) process.stderr.write(`${size.words}.\n`);
  for (const warning of storageClassWarnings(topology)) process.stderr.write(`warning: ${warning}\n`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof TopologyError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
