/**
 * What every bookie must do (ports.ts; rules 1 to 4, 9, 15, 21), however it is reached. Its storage is at
 * hand for what the port does not show, and other processes that act as the same bookie.
 */

import type { EntryId, LedgerId } from "../../lib/protocol/ids.ts";
import type { Bookie, EntryStore, SlotAnswers } from "../../lib/protocol/ports.ts";
import type { CallSignal } from "../../lib/protocol/waiting.ts";
import { abortCases } from "./bookie-abort-cases.ts";
import { addCases } from "./bookie-add-cases.ts";
import { collectionCases } from "./bookie-collection-cases.ts";
import { identityCases } from "./bookie-identity-cases.ts";
import { raceCases } from "./bookie-race-cases.ts";
import { recoveryCases } from "./bookie-recovery-cases.ts";
import {
  type AdapterTraits,
  type ContractCase,
  describeContract,
  type Edge,
  type Opened,
  untilAnswered,
} from "./contract.ts";

export interface BookieUnderTest {
  readonly bookie: Bookie;
  /** The same bookie as another process has it, its storage calls changed by `wrap`. */
  readonly another: (wrap?: (store: EntryStore) => EntryStore) => Bookie;
  readonly store: EntryStore;
  /** What the incarnation marker says (rule 21). */
  readonly storage: string;
  /**
   * The storage answers within the promise queue, so that the orders which a race draws are those that run,
   * and a race that never shows one of its outcomes proves nothing.
   */
  readonly isInMemory: boolean;
  /** Lets time pass for the bookie. */
  readonly advance: (durationMs: number) => Promise<void>;
}

export type BookieCase = ContractCase<BookieUnderTest>;

export const bookieCases: readonly BookieCase[] = [
  ...addCases,
  ...recoveryCases,
  ...collectionCases,
  ...identityCases,
  ...raceCases,
  ...abortCases,
];

export interface OpenedBookie {
  /** The marked storage behind a bookie made anew. `edge` changes the bookie's calls to its storage. */
  readonly under: (edge: Edge) => BookieUnderTest;
  readonly close: () => Promise<void>;
}

const unchanged: Edge = (target) => target;

/** Replies of the bookie are lost in one run, and replies of its storage in another. */
export function bookieContract(
  name: string,
  open: () => Promise<OpenedBookie>,
  traits: AdapterTraits = {},
): void {
  describeContract({
    ...traits,
    name: `bookie: ${name}`,
    cases: bookieCases,
    open: async (): Promise<Opened<BookieUnderTest>> => {
      const opened = await open();
      return { port: (edge) => persistent(opened.under(unchanged), edge ?? unchanged), close: opened.close };
    },
  });
  describeContract({
    ...traits,
    name: `bookie whose storage loses replies: ${name}`,
    cases: bookieCases,
    open: async (): Promise<Opened<BookieUnderTest>> => {
      const opened = await open();
      return {
        port: (edge) => persistent(opened.under(edge ?? unchanged), unchanged),
        close: opened.close,
      };
    },
  });
}

/** Every call of a bookie may be made again until it is answered; that is all its caller needs to know. */
function persistent(under: BookieUnderTest, edge: Edge): BookieUnderTest {
  return {
    ...under,
    bookie: persistentBookie(edge(under.bookie)),
    another: (wrap) => persistentBookie(edge(under.another(wrap))),
  };
}

function persistentBookie(bookie: Bookie): Bookie {
  const several: Pick<Bookie, "readSeveral"> =
    bookie.readSeveral === undefined
      ? {}
      : { readSeveral: (ledger, entries, signal) => everySlot(bookie, ledger, entries, signal) };
  return {
    ...several,
    id: bookie.id,
    add: (entry) => untilAnswered(() => bookie.add(entry)),
    read: (ledger, entry, signal) => untilAnswered(() => bookie.read(ledger, entry, signal)),
    tail: (ledger, signal) => untilAnswered(() => bookie.tail(ledger, signal)),
    fence: (ledger) => untilAnswered(() => bookie.fence(ledger)),
    recoveryRead: (ledger, entry, signal) => untilAnswered(() => bookie.recoveryRead(ledger, entry, signal)),
    recoveryAdd: (entry) => untilAnswered(() => bookie.recoveryAdd(entry)),
    seal: (ledger, entry) => untilAnswered(() => bookie.seal(ledger, entry)),
    deleteEntries: (ledger, through) => untilAnswered(() => bookie.deleteEntries(ledger, through)),
    forget: (ledger) => untilAnswered(() => bookie.forget(ledger)),
  };
}

/** A slot that the bookie left unknown is asked for alone. */
async function everySlot(
  bookie: Bookie,
  ledger: LedgerId,
  entries: readonly EntryId[],
  signal?: CallSignal,
): Promise<SlotAnswers> {
  const answers = await untilAnswered(async () => bookie.readSeveral?.(ledger, entries, signal) ?? []);
  const alone = async (entry: EntryId) => {
    try {
      return await untilAnswered(() => bookie.read(ledger, entry, signal));
    } catch {
      return undefined;
    }
  };
  return await Promise.all(entries.map(async (entry, index) => answers[index] ?? (await alone(entry))));
}
