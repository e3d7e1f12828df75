/**
 * Faults under the clients of AWS, on an emulator: the stores keep their contracts for a caller that asks
 * again, and of a workload over two regions nothing acknowledged is lost and nothing is there twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { DynamoDbLeaseStore } from "../../../lib/adapters/aws/dynamodb-lease-store.ts";
import { DynamoDbMetadataTable } from "../../../lib/adapters/aws/dynamodb-metadata-table.ts";
import { S3EntryStore } from "../../../lib/adapters/aws/s3-entry-store.ts";
import { RequestError } from "../../../lib/client/client-errors.ts";
import type { LogClient } from "../../../lib/client/log-client.ts";
import { verify, verifyLogName } from "../../../lib/client/verify/verify.ts";
import { FencelineError } from "../../../lib/protocol/errors.ts";
import { entryStoreContract } from "../../contracts/entry-store-contract.ts";
import { inboxStoreContract } from "../../contracts/inbox-store-contract.ts";
import { leaseStoreContract } from "../../contracts/lease-store-contract.ts";
import { LostReply } from "../../contracts/lost-replies.ts";
import { metadataStoreContract } from "../../contracts/metadata-store-contract.ts";
import { persistentEntryStore } from "../../contracts/persistent-entry-store.ts";
import { persistentInboxStore } from "../../contracts/persistent-inbox-store.ts";
import { persistentLeaseStore, persistentMetadataStore } from "../../contracts/persistent-metadata-store.ts";
import { inboxInDynamoDb, untilGone } from "./emulated-inbox.ts";
import { clock, newBucket, newTable, overEmulator, random } from "./emulator.ts";
import { FaultLayer, type ServiceFault } from "./fault-layer.ts";
import { regionsInProcess } from "./regions-in-process.ts";

// Metrics go to the output of a function, which is not the output of a test.
process.env.POWERTOOLS_METRICS_DISABLED = "true";
const FEW = { many: 60, isFaulty: true };
const SHARE = 0.15;
const PREFIX = "faults";
const LOGS = 2;

const ofS3 = [
  "s3 slow-down",
  "s3 slow-down-after",
  "s3 lost-reply",
  "s3 lost-request",
  "s3 conflict",
  "s3 condition-failed",
] as const;
const ofDynamoDb = [
  "dynamodb lost-reply",
  "dynamodb lost-request",
  "dynamodb throttle",
  "dynamodb conflict",
  "dynamodb condition-failed",
] as const;
const ofLambda = ["lambda lost-reply", "lambda lost-request", "lambda throttle"] as const;

await overEmulator((emulator) => {
  describe("the stores, with faults under their clients", () => {
    const faults = new FaultLayer(1, SHARE);
    afterAll(() => expectAll(faults, [...ofS3, ...ofDynamoDb, "dynamodb stale", "dynamodb no-row"]));

    entryStoreContract(
      "S3 with faults",
      async () => {
        const { client, bucket, close } = await newBucket(emulator);
        const store = new S3EntryStore({ client: faults.underS3(client), bucket, clock, random });
        return { store: persistentEntryStore(lossesAsSuch(store)), close };
      },
      FEW,
    );
    leaseStoreContract("DynamoDB with faults", async () => {
      const { table, close } = await newTable(emulator, ["pk"]);
      faults.underDynamoDb(table.client);
      return { store: persistentLeaseStore(lossesAsSuch(new DynamoDbLeaseStore(table))), close };
    });
    inboxStoreContract("DynamoDB with faults", async () => {
      const { inbox, table, close } = await inboxInDynamoDb(emulator);
      faults.underDynamoDb(table.client);
      return {
        inbox: { ...inbox, store: untilGone(persistentInboxStore(lossesAsSuch(inbox.store))) },
        close,
      };
    });
    metadataStoreContract(
      "DynamoDB with faults",
      async () => {
        const { table, close } = await newTable(emulator, ["pk", "sk"]);
        faults.underDynamoDb(table.client);
        return { store: persistentMetadataStore(lossesAsSuch(new DynamoDbMetadataTable(table))), close };
      },
      FEW,
    );
  });

  describe("a verification, with faults under every client of two regions", () => {
    it("finds nothing acknowledged lost, and nothing twice", async () => {
      const faults = new FaultLayer(2, 0.06);
      const { clients } = await regionsInProcess(emulator, faults);
      const ended = new AbortController();
      const fencing = fenceNowAndThen(clients, ended.signal);
      const report = await verify({
        clients,
        prefix: PREFIX,
        appenders: 4,
        logs: LOGS,
        durationMs: 30_000,
        recordBytes: 100,
        followOwner: false,
        plain: false,
        unknownShareMax: 1,
        readsFailedShareMax: 0.9,
        patienceMs: 120_000,
      });
      ended.abort();
      await fencing;
      process.stdout.write(`${JSON.stringify({ report, faults: Object.fromEntries(faults.counts) })}\n`);
      expect(report.violations).toEqual([]);
      expect(report.passed).toBe(true);
      expect(report.acknowledged).toBeGreaterThan(5);
      expectAll(faults, [...ofS3, ...ofDynamoDb, "dynamodb stale", ...ofLambda]);
    });
  });
});

/** Recovers what is open, by the one region and the other at once, so that they meet the writer and each other. */
async function fenceNowAndThen(clients: readonly LogClient[], signal: AbortSignal): Promise<void> {
  for (let turn = 0; ; turn++) {
    await sleep(2_500, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const log = verifyLogName(PREFIX, turn % LOGS);
    const fences = clients.map(async (client) => {
      const last = (await client.segments(log)).segments.at(-1);
      if (last !== undefined) await client.recoverLedger(String(last.ledger_id));
    });
    const told = await Promise.allSettled(fences);
    for (const one of told) {
      if (one.status === "rejected" && !(one.reason instanceof RequestError)) throw one.reason;
    }
  }
}

/** Faults that were never drawn prove nothing. */
function expectAll(faults: FaultLayer, kinds: readonly ServiceFault[]): void {
  expect(kinds.filter((kind) => !faults.counts.has(kind))).toEqual([]);
}

/** An answer that did not come, as what the contract's caller takes it for. */
function lossesAsSuch<T extends object>(store: T): T {
  return new Proxy(store, {
    get(_, name) {
      const member: unknown = Reflect.get(store, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        try {
          return await member.apply(store, args);
        } catch (error) {
          if (error instanceof FencelineError && error.code === "unavailable")
            throw new LostReply(error.message);
          throw error;
        }
      };
    },
  });
}
