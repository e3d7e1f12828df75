/**
 * The functions as Lambda runs them: one minified file each, with everything it needs and nothing else. No
 * module is left to the runtime: its SDK is of no certain version and slower to load, and emulators have
 * none.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";

const functionNames = ["bookie", "append", "read", "auditor", "topology-guard"] as const;
export type FunctionName = (typeof functionNames)[number];

/** In each function's folder: the file, and what Lambda calls the function in it. */
export const BUNDLE_FILE = "index.js";
export const BUNDLE_HANDLER = "index.handler";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Builds every function into a folder of its own under `directory`, which is made anew. The same sources give
 * the same bytes.
 */
export async function bundleFunctions(directory: string): Promise<Readonly<Record<FunctionName, string>>> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const folders = functionNames.map((name) => [name, join(directory, name)] as const);
  await Promise.all(
    folders.map(([name, folder]) =>
      build({
        ...bundleOptions,
        entryPoints: [join(ROOT, "functions", name, "handler.ts")],
        outfile: join(folder, BUNDLE_FILE),
      }),
    ),
  );
  return Object.fromEntries(folders) as Record<FunctionName, string>;
}

/**
 * Lambda gives credentials in the environment, and nowhere else. The chain that looks in files, in instance
 * metadata and with SSO brings clients of its own, which every cold start would read.
 */
const credentials = {
  file: /[\\/]@aws-sdk[\\/]credential-provider-node[\\/]dist-es[\\/]index\.js$/,
  contents: 'export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";',
};

const lean: Plugin = {
  name: "lean",
  setup(builder) {
    const { file, contents } = credentials;
    builder.onLoad({ filter: file }, ({ path }) => ({ contents, loader: "js", resolveDir: dirname(path) }));
  },
};

/** How bundles are built; a bench builds what it compares them with in the same way. */
export const bundleOptions = {
  bundle: true,
  minify: true,
  platform: "node",
  // Lambda runs a newer one; emulators run what their machine has.
  target: "node20",
  format: "cjs",
  // The packages' ES modules, of which unused parts can be left out.
  mainFields: ["module", "main"],
  absWorkingDir: ROOT,
  logLevel: "warning",
  legalComments: "none",
  plugins: [lean],
} as const satisfies BuildOptions;
