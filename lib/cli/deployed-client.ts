/** Clients of a deployment on AWS. Everything that loads the SDK is behind this file. */
import { chainCredentials, chainRegion } from "../client/aws/credential-chain.ts";
import { directSend } from "../client/aws/direct-send.ts";
import { signedSend } from "../client/aws/signed-send.ts";
import { endpointFault } from "../client/endpoint.ts";
import { LogClient, type LogClientOptions } from "../client/log-client.ts";
import { chooseRegion, type DeployedRegion, readOutputs } from "./deployment-outputs.ts";
import { UsageError } from "./exit-codes.ts";
import { TunnelAgent, wayTo } from "./proxied-send.ts";
import { proxyFor } from "./proxy-choice.ts";

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
    const proxy = proxyFor(lambdaOf(region));
    const tunnels = proxy === undefined ? {} : { httpsAgent: new TunnelAgent(proxy) };
    const send = directSend({ region, functions, ...tunnels });
    const asked = `${region}'s functions ${functions.read} and ${functions.append}`;
    return new LogClient({ endpoint: `https://${region}.invalid`, asked, ...options, send });
  }
  const { send: sendSigned, asked } = wayTo(endpoint);
  const way = sendSigned === undefined ? {} : { send: sendSigned };
  const send = signedSend({ region, credentials: chainCredentials(region), ...way });
  return new LogClient({ endpoint, ...(asked === undefined ? {} : { asked }), ...options, send });
}

/** Where the SDK finds Lambda. Throws UsageError. */
function lambdaOf(region: string): string {
  const { AWS_ENDPOINT_URL_LAMBDA: own, AWS_ENDPOINT_URL: all } = process.env;
  const address = own ?? all ?? `https://lambda.${region}.amazonaws.com`;
  const fault = endpointFault(address);
  if (fault !== undefined) throw new UsageError(`AWS_ENDPOINT_URL ${fault}`);
  if (address.startsWith("https:") || proxyFor(address) === undefined) return address;
  throw new UsageError(
    "--direct goes by a proxy to HTTPS addresses only, and AWS_ENDPOINT_URL is none, though HTTP_PROXY is " +
      "set; name its host in NO_PROXY, or leave out --direct",
  );
}
