/** The functions' code as assets of the deployment, bundled once for all regions. */
import { Code } from "aws-cdk-lib/aws-lambda";
import { BUNDLE_HANDLER, bundleFunctions, type FunctionName } from "../bundles/function-bundles.ts";

/** The code of each function: a new object for each use, as CDK wants it, of files that are made once. */
export type FunctionCode = (name: FunctionName) => Code;

export const CODE_HANDLER = BUNDLE_HANDLER;

/** Bundles into folders under `directory`; needs neither Docker nor a network. */
export async function bundledCode(directory: string): Promise<FunctionCode> {
  const folders = await bundleFunctions(directory);
  return (name) => Code.fromAsset(folders[name]);
}
