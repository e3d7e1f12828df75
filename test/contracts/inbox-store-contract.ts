/** What every inbox store must do: requests and answers by ticket, whole or not at all (rules 36 to 41). */
import type { LogIncarnation } from "../../lib/protocol/ids.ts";
import type { InboxStore, Ticket } from "../../lib/protocol/log/inbox-store.ts";
import { type AdapterTraits, type ContractCase, describeContract, type Opened } from "./contract.ts";
import { answerCases } from "./inbox-answer-cases.ts";
import { requestCases } from "./inbox-request-cases.ts";
import { persistentInboxStore } from "./persistent-inbox-store.ts";

export interface InboxUnderTest {
  readonly store: InboxStore;
  /** Makes the content of a stored request unreadable; its key stays. */
  readonly damage: (log: LogIncarnation, ticket: Ticket) => Promise<void>;
  readonly nowMs: () => number;
  /** Lets time pass for the store. */
  readonly advance: (ms: number) => Promise<void>;
}

export const inboxStoreCases: readonly ContractCase<InboxUnderTest>[] = [...requestCases, ...answerCases];

export function inboxStoreContract(
  name: string,
  open: () => Promise<{ readonly inbox: InboxUnderTest; readonly close: () => Promise<void> }>,
  traits: AdapterTraits = {},
): void {
  describeContract({
    ...traits,
    name: `inbox store: ${name}`,
    cases: inboxStoreCases,
    open: async (): Promise<Opened<InboxUnderTest>> => {
      const { inbox, close } = await open();
      return {
        port: (edge) =>
          edge === undefined ? inbox : { ...inbox, store: persistentInboxStore(edge(inbox.store)) },
        close,
      };
    },
  });
}
