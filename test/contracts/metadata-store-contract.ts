/** What every metadata store must do: compare-and-set items, ordered queries (ports.ts). */
import type { MetadataStore } from "../../lib/protocol/ports.ts";
import { type ContractCase, describeContract, type Opened, type OpenedStore } from "./contract.ts";
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
  size: { readonly many?: number; readonly isFaulty?: boolean } = {},
): void {
  describeContract({
    ...size,
    name: `metadata store: ${name}`,
    cases: metadataStoreCases,
    open: async (): Promise<Opened<MetadataStore>> => {
      const { store, close } = await open();
      return { port: (edge) => (edge === undefined ? store : persistentMetadataStore(edge(store))), close };
    },
  });
}
