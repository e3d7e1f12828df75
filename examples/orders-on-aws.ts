/**
 * Appends to a deployment on AWS, and reads it back.
 *
 *     node --import tsx examples/orders-on-aws.ts cdk-outputs.json us-east-1 [--direct]
 */
import { readOutputs } from "../lib/cli/deployment-outputs.ts";
import { chainCredentials } from "../lib/client/aws/credential-chain.ts";
import { directSend } from "../lib/client/aws/direct-send.ts";
import { signedSend } from "../lib/client/aws/signed-send.ts";
import { LogClient } from "../lib/client/log-client.ts";
import { LogProducer } from "../lib/client/log-producer.ts";

const [path = "cdk-outputs.json", region = "us-east-1", how] = process.argv.slice(2);
const deployed = (await readOutputs(path)).find((one) => one.region === region);
if (deployed === undefined) throw new Error(`${path} has no region ${region}`);
const { endpoint, functions } = deployed;

// Signed for the region's API, or its functions invoked with nothing in front of them.
const send =
  how === "--direct"
    ? directSend({ region, functions })
    : signedSend({ region, credentials: chainCredentials(region) });
const client = new LogClient({ endpoint: how === "--direct" ? "https://direct" : endpoint, send });
await client.createLog("orders", {}); // the same again changes nothing

// Each batch is in the log once, whatever is lost on the way; the id names this producer and no other.
const id = `example-${process.pid}-${Date.now()}`;
const producer = new LogProducer({ client, log: "orders", id, patienceMs: 10_000 });
await producer.append([Buffer.from("one order"), Buffer.from("and another")]);

const { tail } = await client.tail("orders");
const { records } = await client.read("orders", { from: Math.max(0, tail - 2), format: "utf8" });
for (const { seq_num, body } of records) process.stdout.write(`${seq_num} ${body}\n`);
