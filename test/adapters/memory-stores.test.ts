/** The stores in memory keep every contract, also when stale reads look back. */
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryLeaseStore } from "../../lib/adapters/memory/memory-lease-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { inboxInMemory } from "../contracts/broken-inboxes.ts";
import { entryStoreContract } from "../contracts/entry-store-contract.ts";
import { inboxStoreContract } from "../contracts/inbox-store-contract.ts";
import { leaseStoreContract } from "../contracts/lease-store-contract.ts";
import { metadataStoreContract } from "../contracts/metadata-store-contract.ts";
import { SeededRandom } from "../sim/seeded-random.ts";

const close = async () => undefined;

entryStoreContract("memory", async () => ({ store: new MemoryEntryStore(), close }));
leaseStoreContract("memory", async () => ({ store: new MemoryLeaseStore(), close }));
inboxStoreContract("memory", async () => ({ inbox: inboxInMemory(), close }));
metadataStoreContract("memory", async () => ({ store: new MemoryMetadataStore(), close }));

const random = new SeededRandom(1, "stale reads");
metadataStoreContract("memory with a lagging replica", async () => ({
  store: new MemoryMetadataStore({ statesMax: 3, statesBack: (_key, kept) => random.integer(0, kept) }),
  close,
}));
