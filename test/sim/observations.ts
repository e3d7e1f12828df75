/**
 * What checkers see. The world tells every observer of each change inside it, as it happens: the stores'
 * effects, the bookies' answers, what the protocol says of itself, and what clients asked and were told.
 */
import type { BookieId, EntryId, LedgerId } from "../../lib/protocol/ids.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import type { StoreChange } from "./bookie-storage.ts";
import type { Operation } from "./history.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export type BookieOperation =
  | "add"
  | "read"
  | "tail"
  | "fence"
  | "recoveryRead"
  | "recoveryAdd"
  | "seal"
  | "deleteEntries"
  | "forget";

/** A request that an instance of a bookie took up. */
export interface ServedCall {
  readonly bookie: BookieId;
  readonly operation: BookieOperation;
  readonly ledgerId: LedgerId;
  readonly entryId: EntryId | undefined;
  /** Event number at which the instance began with it. */
  readonly arrivedAt: number;
}

export interface Observer {
  storeChanged?(change: StoreChange): void;
  metadataChanged?(change: MetadataChange): void;
  /** An instance of a bookie gave its answer; `at` is the event number. */
  bookieAnswered?(call: ServedCall, answer: unknown, at: number): void;
  emitted?(event: TraceEvent, process: SimulatedProcess): void;
  /** A client's operation began, or came to its end. */
  operated?(operation: Operation): void;
  /** The run is over and everything has been read back. */
  finished?(): void;
}
