/**
 * Faults under the clients of AWS, on an emulator: the stores keep their contracts for a caller that asks
 * again, and of a workload over two regions nothing acknowledged is lost and nothing is there twice.
 */
import { afterAll, describe, expect, it } from "vitest";
import { DynamoDbLeaseStore } from "../../../lib/adapters/aws/dynamodb-lease-store.ts";
import { DynamoDbMetadataTable } from "../../../lib/adapters/aws/dynamodb-metadata-table.ts";
import { S3EntryStore } from "../../../lib/adapters/aws/s3-entry-store.ts";
import { verify } from "../../../lib/client/verify/verify.ts";
import { FencelineError } from "../../../lib/protocol/errors.ts";
import { entryStoreContract } from "../../contracts/entry-store-contract.ts";
import { leaseStoreContract } from "../../contracts/lease-store-contract.ts";
import { LostReply } from "../../contracts/lost-replies.ts";
import { metadataStoreContract } from "../../contracts/metadata-store-contract.ts";
import { persistentEntryStore } from "../../contracts/persistent-entry-store.ts";
import { persistentLeaseStore, persistentMetadataStore } from "../../contracts/persistent-metadata-store.ts";
import { clock, newBucket, newTable, overEmulator, random } from "./emulator.ts";
import { type Fault, FaultLayer } from "./fault-layer.ts";
import { regionsInProcess } from "./regions-in-process.ts";

// Metrics go to the output of a function, which is not the output of a test.
process.env.POWERTOOLS_METRICS_DISABLED = "true";
const FEW = { many: 60, isFaulty: true };
const SHARE = 0.15;

await overEmulator((emulator) => {
  describe("the stores, with faults under their clients", () => {
    const faults = new FaultLayer(1, SHARE);
    afterAll(() =>
      expectAll(faults, [
        "slow-down",
        "slow-down-after",
        "lost-reply",
        "lost-request",
        "conflict",
        "throttle",
        "no-row",
      ]),
    );

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
      const faults = new FaultLayer(2, 0.05);
      const { clients } = await regionsInProcess(emulator, faults);
      const report = await verify({
        clients,
        prefix: "faults",
        appenders: 3,
        logs: 1,
        durationMs: 30_000,
        recordBytes: 100,
        followOwner: false,
        plain: false,
        unknownShareMax: 1,
        readsFailedShareMax: 0.9,
        patienceMs: 120_000,
      });
      process.stdout.write(`${JSON.stringify({ report, faults: [...faults.injected] })}\n`);
      expect(report.violations).toEqual([]);
      expect(report.passed).toBe(true);
      expect(report.acknowledged).toBeGreaterThan(5);
      expectAll(faults, ["lost-reply", "lost-request", "throttle"]);
    });
  });
});

/** Faults that were never drawn prove nothing. */
function expectAll(faults: FaultLayer, kinds: readonly Fault[]): void {
  expect(kinds.filter((kind) => !faults.injected.has(kind))).toEqual([]);
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
