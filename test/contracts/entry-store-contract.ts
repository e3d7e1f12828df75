/** What every entry store must do: the slots of one bookie (ports.ts, rules 1 to 4 and 21). */
import type { EntryStore } from "../../lib/protocol/ports.ts";
import {
  type AdapterTraits,
  type ContractCase,
  describeContract,
  type Opened,
  type OpenedStore,
} from "./contract.ts";
import { listCases } from "./entry-store-list-cases.ts";
import { slotCases } from "./entry-store-slot-cases.ts";
import { persistentEntryStore } from "./persistent-entry-store.ts";

export const entryStoreCases: readonly ContractCase<EntryStore>[] = [...slotCases, ...listCases];

export function entryStoreContract(
  name: string,
  open: () => Promise<OpenedStore<EntryStore>>,
  traits: AdapterTraits = {},
): void {
  describeContract({
    ...traits,
    name: `entry store: ${name}`,
    cases: entryStoreCases,
    open: async (): Promise<Opened<EntryStore>> => {
      const { store, close } = await open();
      return { port: (edge) => (edge === undefined ? store : persistentEntryStore(edge(store))), close };
    },
  });
}
