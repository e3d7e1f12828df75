/**
 * The functions' code: one file each, minified, with everything in it. The SDK is bundled as well, because
 * the one that the runtime brings changes by itself, starts more slowly, and is absent from emulators.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Code } from "aws-cdk-lib/aws-lambda";
import { buildSync } from "esbuild";

export const handlerNames = ["bookie", "append", "read", "auditor", "topology-guard"] as const;
/** Folders under functions, each with a handler. */
export type HandlerName = (typeof handlerNames)[number];

/** The code of each function: a new object for each use, as CDK wants it, of files that are made once. */
export type FunctionCode = (name: HandlerName) => Code;

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Bundles what is asked for into folders under `directory`; needs neither Docker nor a network. */
export function bundledCode(directory: string): FunctionCode {
  const made = new Map<HandlerName, string>();
  return (name) => {
    const folder = made.get(name) ?? bundle(name, directory);
    made.set(name, folder);
    return Code.fromAsset(folder);
  };
}

function bundle(name: HandlerName, directory: string): string {
  const folder = join(directory, name);
  mkdirSync(folder, { recursive: true });
  buildSync({
    absWorkingDir: root,
    entryPoints: [`functions/${name}/handler.ts`],
    outfile: join(folder, "index.js"),
    bundle: true,
    minify: true,
    platform: "node",
    // Lambda has Node 24; emulators run the same file with the Node that is there.
    target: "node20",
    format: "cjs",
    legalComments: "none",
    logLevel: "warning",
  });
  return folder;
}
