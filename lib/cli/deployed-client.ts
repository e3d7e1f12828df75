/** The client of a deployment on AWS. Everything that loads the SDK is behind this file. */
import { chainCredentials, chainRegion } from "../client/aws/credential-chain.ts";
import { directSend } from "../client/aws/direct-send.ts";
import { signedSend } from "../client/aws/signed-send.ts";
import { LogClient } from "../client/log-client.ts";
import { chooseRegion, readOutputs } from "./deployment-outputs.ts";

export interface DeployedClientFields {
  readonly outputs: string;
  readonly region: string | undefined;
  readonly isDirect: boolean;
  readonly signal: AbortSignal;
}

/** Throws UsageError. */
export async function deployedClient(fields: DeployedClientFields): Promise<LogClient> {
  const { outputs, isDirect, signal } = fields;
  const { region, endpoint, functions } = await chooseRegion(
    await readOutputs(outputs),
    fields.region,
    chainRegion,
  );
  // Behind the gateway's stage there is none of it in the path.
  if (isDirect) {
    const send = directSend({ region, functions });
    const asked = `${region}'s functions ${functions.read} and ${functions.append}`;
    return new LogClient({ endpoint: `https://${region}.invalid`, asked, signal, send });
  }
  const send = signedSend({ region, credentials: chainCredentials(region) });
  return new LogClient({ endpoint, signal, send });
}
