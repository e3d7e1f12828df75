/**
 * Appends to the embedded cloud, and reads it back.
 *
 *     node --import tsx examples/orders.ts http://127.0.0.1:4701
 */
import { LogClient } from "../lib/client/log-client.ts";
import { LogProducer } from "../lib/client/log-producer.ts";

const client = new LogClient({ endpoint: process.argv[2] ?? "http://127.0.0.1:4701" });
await client.createLog("orders", {}); // the same again changes nothing

const id = `example-${process.pid}-${Date.now()}`; // names this producer and no other
const producer = new LogProducer({ client, log: "orders", id, patienceMs: 10_000 });
await producer.append([Buffer.from("one order"), Buffer.from("and another")]);

const { tail } = await client.tail("orders");
const { records } = await client.read("orders", { from: Math.max(0, tail - 2), format: "utf8" });
for (const { seq_num, body } of records) process.stdout.write(`${seq_num} ${body}\n`);
