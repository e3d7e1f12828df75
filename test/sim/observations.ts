/**
 * What checkers see. The world reports to every observer each change inside it, as it happens: the stores'
 * effects, the bookies' answers, what the protocol says of itself, and what clients asked and got.
 */
import type { BookieId, EntryId, LedgerId, LogIncarnation, Region } from "../../lib/protocol/ids.ts";
import type { Lease } from "../../lib/protocol/lease.ts";
import type { OwnerRequest } from "../../lib/protocol/log/log-ports.ts";
import type { AppendAck, AppendRequest } from "../../lib/protocol/log/operations.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import type { StoreChange } from "./bookie-storage.ts";
import type { Content, Operation } from "./history.ts";
import type { FailuresChange, LeaseChange } from "./lease-table.ts";
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

/** A request that an instance of the `append` function took up. */
export interface FunctionCall {
  readonly process: SimulatedProcess;
  readonly kind: "append" | "canOwn" | "create" | "settle" | "keep" | "ask" | "transfer";
  /** It came from another region's function. */
  readonly isForwarded: boolean;
  /** Of an append. */
  readonly request?: AppendRequest;
}

export type FunctionOutcome =
  | { readonly kind: "began" }
  | { readonly kind: "answered"; readonly value: unknown }
  | { readonly kind: "failed"; readonly error: unknown };

/** What an instance asked the function of another region. */
export interface RegionCall {
  readonly process: SimulatedProcess;
  readonly to: Region;
  readonly what: "append" | "canOwn" | "ask";
  readonly request?: AppendRequest;
  /** What is asked of an owner, or of the next one. */
  readonly asked?: OwnerRequest;
}

export interface Observer {
  storeChanged?(change: StoreChange): void;
  metadataChanged?(change: MetadataChange): void;
  /** An instance of a bookie gave its answer; `at` is the event number. */
  bookieAnswered?(call: ServedCall, answer: unknown, at: number): void;
  emitted?(event: TraceEvent, process: SimulatedProcess): void;
  leaseChanged?(change: LeaseChange): void;
  /** A process changed what its region counted of another one's failures. */
  failuresCounted?(change: FailuresChange): void;
  /** A process read a lease of its region, as it is now. */
  leaseRead?(process: SimulatedProcess, log: LogIncarnation, lease: Lease | undefined): void;
  /** A process sent the metadata store a request. */
  metadataAsked?(process: SimulatedProcess, partition: string): void;
  /** An instance of a function took a request up, or is done with it. */
  functionCalled?(call: FunctionCall, outcome: FunctionOutcome): void;
  /** An instance asked another region; `answer` is undefined as it asks, and never comes if none does. */
  regionCalled?(call: RegionCall, answer: unknown): void;
  /** A client got the answer that its records are in the log. */
  appended?(log: string, contents: readonly Content[], ack: AppendAck): void;
  /** A client's operation began, or came to its end. */
  operated?(operation: Operation): void;
  /** The run is over and everything has been read back. */
  finished?(): void;
}
