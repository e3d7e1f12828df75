/** What every metadata store must do: compare-and-set items, ordered queries (ports.ts). */
import type { MetadataStore } from "../../lib/protocol/ports.ts";
import {
  type AdapterTraits,
  type ContractCase,
  describeContract,
  type Opened,
  type OpenedStore,
} from "./contract.ts";
import { itemCases } from "./metadata-item-cases.ts";
import { queryCases } from "./metadata-query-cases.ts";
import { updateCases } from "./metadata-update-cases.ts";
import { persistentMetadataStore } from "./persistent-metadata-store.ts";

export const metadataStoreCases: readonly ContractCase<MetadataStore>[] = [
  ...itemCases,
  ...updateCases,
  ...queryCases,
];

export function metadataStoreContract(
  name: string,
  open: () => Promise<OpenedStore<MetadataStore>>,
  traits: AdapterTraits = {},
): void {
  describeContract({
    ...traits,
    name: `metadata store: ${name}`,
    cases: metadataStoreCases,
    open: async (): Promise<Opened<MetadataStore>> => {
      const { store, close } = await open();
      return { port: (edge) => (edge === undefined ? store : persistentMetadataStore(edge(store))), close };
    },
  });
}
