/** Clients of a deployment on AWS. Everything that loads the SDK is behind this file. */
import { chainCredentials, chainRegion } from "../client/aws/credential-chain.ts";
import { directSend } from "../client/aws/direct-send.ts";
import { signedSend } from "../client/aws/signed-send.ts";
import { LogClient, type LogClientOptions } from "../client/log-client.ts";
import { chooseRegion, type DeployedRegion, readOutputs } from "./deployment-outputs.ts";

export interface DeployedClientFields {
  readonly outputs: string;
  readonly region: string | undefined;
  readonly isDirect: boolean;
  readonly signal: AbortSignal;
}

/** Throws UsageError. */
export async function deployedClient(fields: DeployedClientFields): Promise<LogClient> {
  const { outputs, isDirect, signal } = fields;
  const chosen = await chooseRegion(await readOutputs(outputs), fields.region, chainRegion);
  return clientIn(chosen, isDirect, { signal });
}

/** One client for each of the regions, or of all that the deployment has. Throws UsageError. */
export async function deployedClients(
  fields: Pick<DeployedClientFields, "outputs" | "isDirect"> & {
    readonly regions: readonly string[] | undefined;
    readonly timeoutMs: number;
  },
): Promise<readonly LogClient[]> {
  const { outputs, regions, isDirect, timeoutMs } = fields;
  const all = await readOutputs(outputs);
  const chosen =
    regions === undefined
      ? all
      : await Promise.all([...new Set(regions)].map((region) => chooseRegion(all, region, chainRegion)));
  return chosen.map((one) => clientIn(one, isDirect, { timeoutMs }));
}

function clientIn(
  { region, endpoint, functions }: DeployedRegion,
  isDirect: boolean,
  options: Pick<LogClientOptions, "signal" | "timeoutMs">,
): LogClient {
  // Behind the gateway's stage there is none of it in the path.
  if (isDirect) {
    const send = directSend({ region, functions });
    return new LogClient({ endpoint: `https://${region}.invalid`, ...options, send });
  }
  const send = signedSend({ region, credentials: chainCredentials(region) });
  return new LogClient({ endpoint, ...options, send });
}
