/** The stores over S3 and DynamoDB keep every contract, on an emulator. */
import { CheckedDeployment } from "../../../lib/adapters/aws/checked-deployment.ts";
import { DynamoDbLeaseStore } from "../../../lib/adapters/aws/dynamodb-lease-store.ts";
import { DynamoDbMetadataStore } from "../../../lib/adapters/aws/dynamodb-metadata-store.ts";
import { DynamoDbMetadataTable } from "../../../lib/adapters/aws/dynamodb-metadata-table.ts";
import { S3EntryStore } from "../../../lib/adapters/aws/s3-entry-store.ts";
import { region } from "../../../lib/protocol/ids.ts";
import { entryStoreContract } from "../../contracts/entry-store-contract.ts";
import { inboxStoreContract } from "../../contracts/inbox-store-contract.ts";
import { leaseStoreContract } from "../../contracts/lease-store-contract.ts";
import { metadataStoreContract } from "../../contracts/metadata-store-contract.ts";
import { inboxInDynamoDb } from "./emulated-inbox.ts";
import { clock, newBucket, newTable, overEmulator, random, unreachable } from "./emulator.ts";

const HERE = region("us-east-1");
/** More than one page of S3's; each is a request to one slow process. */
const FEWER = { many: 1_200 };

await overEmulator((emulator) => {
  entryStoreContract(
    "S3",
    async () => {
      const { client, bucket, close } = await newBucket(emulator);
      return { store: new S3EntryStore({ client, bucket, clock, random }), close };
    },
    FEWER,
  );

  leaseStoreContract("DynamoDB", async () => {
    const { table, close } = await newTable(emulator, ["pk"]);
    return { store: new DynamoDbLeaseStore(table), close };
  });

  inboxStoreContract("DynamoDB", () => inboxInDynamoDb(emulator));

  metadataStoreContract(
    "DynamoDB in mode home",
    async () => {
      const { table, close } = await newTable(emulator, ["pk", "sk"]);
      const replicas = [{ region: HERE, store: new DynamoDbMetadataTable(table) }];
      const home = new DynamoDbMetadataStore({ replicas, mode: { kind: "home", home: HERE }, clock });
      const deployment = { kind: "deployment", metadataMode: "home", homeRegion: HERE } as const;
      return { store: new CheckedDeployment(home, deployment, random), close };
    },
    FEWER,
  );

  metadataStoreContract(
    "DynamoDB in mode strong, the nearest replica down",
    async () => {
      const { table, close } = await newTable(emulator, ["pk", "sk"]);
      const replicas = [unreachable(table), table].map((one) => ({
        region: region(one.region),
        store: new DynamoDbMetadataTable(one),
      }));
      const strong = new DynamoDbMetadataStore({ replicas, mode: { kind: "strong" }, clock });
      return {
        store: new CheckedDeployment(strong, { kind: "deployment", metadataMode: "strong" }, random),
        close,
      };
    },
    FEWER,
  );
});
