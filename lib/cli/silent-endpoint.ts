/** What to do when something does not answer: an endpoint, or the cloud of a directory. */
import { resolve } from "node:path";
import { NoAnswerError } from "../client/client-errors.ts";
import { type ControlAddress, readControlFile } from "../local/control-file.ts";
import { NoCloudError } from "../local/local-error.ts";
import { DATA_DEFAULT, ENDPOINT_DEFAULT } from "./options.ts";
import { fencelineLine, quoted } from "./shell-words.ts";

/** Undefined if the error has nothing silent at its root. Names come from the cloud of `dataDir`. */
export async function remedyOf(error: unknown, dataDir = resolve(DATA_DEFAULT)): Promise<string | undefined> {
  if (error instanceof NoCloudError) {
    const start = fencelineLine({ command: "local", operands: [], options: ["--data", error.dataDir] });
    return `Start it with ${start}, or name the directory of the one that runs with --data`;
  }
  const root = error instanceof Error && error.cause instanceof NoAnswerError ? error.cause : error;
  if (!(root instanceof NoAnswerError)) return undefined;
  const { endpoint, asked } = root;
  if (isDeployed(endpoint)) return `${asked}: no answer; name another region of the deployment with --region`;
  const regions = await regionsOf(dataDir);
  const name = regions.find(({ url }) => url === endpoint)?.name;
  // The default was given by nobody: where this folder's cloud listens is meant.
  const isOfCloud = name !== undefined || endpoint === ENDPOINT_DEFAULT;
  const other = isOfCloud ? regions.find(({ url }) => url !== endpoint)?.url : undefined;
  return (
    `${name === undefined ? endpoint : `${name} (${endpoint})`} does not answer. Is it running? npm start; ` +
    `or name another region with --endpoint ${other === undefined ? "<url>" : quoted(other)}`
  );
}

/** An API of AWS, an emulator's, or a region's functions. */
function isDeployed(endpoint: string): boolean {
  return /\.amazonaws\.com|\/_aws\/execute-api\/|\.invalid$/.test(endpoint);
}

async function regionsOf(dataDir: string): Promise<ControlAddress["regions"]> {
  try {
    return (await readControlFile(dataDir)).regions;
  } catch {
    return []; // no cloud runs there: its names are not needed
  }
}
