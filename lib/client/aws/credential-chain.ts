/**
 * Credentials and region by the usual chain: environment, profile, SSO, container, instance. The SDK's own
 * clients have it, so nothing else is installed for it.
 */
import { LambdaClient } from "@aws-sdk/client-lambda";

interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Asked for each request; credentials that expire are renewed by the chain. */
export type CredentialSource = () => Promise<AwsCredentials>;

export function chainCredentials(region: string): CredentialSource {
  const { config } = new LambdaClient({ region });
  return async () => await config.credentials();
}

/** The region that the environment or the profile names. */
export async function chainRegion(): Promise<string | undefined> {
  try {
    return await new LambdaClient({}).config.region();
  } catch {
    return undefined; // the chain names none
  }
}
