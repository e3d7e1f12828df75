/** Hands every observation to the observers of that kind, in a fixed order. */
import type { LogIncarnation } from "../../lib/protocol/ids.ts";
import type { Lease } from "../../lib/protocol/lease.ts";
import type { AppendAck } from "../../lib/protocol/log/operations.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import type { StoreChange } from "./bookie-storage.ts";
import type { Content, Operation } from "./history.ts";
import type { FailuresChange, LeaseChange } from "./lease-table.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { FunctionCall, FunctionOutcome, Observer, RegionCall, ServedCall } from "./observations.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export class Observers {
  #all: readonly Observer[] = [];

  watch(observers: readonly Observer[]): void {
    this.#all = [...this.#all, ...observers];
  }

  storeChanged(change: StoreChange): void {
    for (const observer of this.#all) observer.storeChanged?.(change);
  }
  metadataChanged(change: MetadataChange): void {
    for (const observer of this.#all) observer.metadataChanged?.(change);
  }
  bookieAnswered(call: ServedCall, answer: unknown, at: number): void {
    for (const observer of this.#all) observer.bookieAnswered?.(call, answer, at);
  }
  emitted(event: TraceEvent, process: SimulatedProcess): void {
    for (const observer of this.#all) observer.emitted?.(event, process);
  }
  leaseChanged(change: LeaseChange): void {
    for (const observer of this.#all) observer.leaseChanged?.(change);
  }
  failuresCounted(change: FailuresChange): void {
    for (const observer of this.#all) observer.failuresCounted?.(change);
  }
  leaseRead(process: SimulatedProcess, log: LogIncarnation, lease: Lease | undefined): void {
    for (const observer of this.#all) observer.leaseRead?.(process, log, lease);
  }
  metadataAsked(process: SimulatedProcess, partition: string): void {
    for (const observer of this.#all) observer.metadataAsked?.(process, partition);
  }
  functionCalled(call: FunctionCall, outcome: FunctionOutcome): void {
    for (const observer of this.#all) observer.functionCalled?.(call, outcome);
  }
  regionCalled(call: RegionCall, answer: unknown): void {
    for (const observer of this.#all) observer.regionCalled?.(call, answer);
  }
  appended(log: string, contents: readonly Content[], ack: AppendAck): void {
    for (const observer of this.#all) observer.appended?.(log, contents, ack);
  }
  operated(operation: Operation): void {
    for (const observer of this.#all) observer.operated?.(operation);
  }
  finished(): void {
    for (const observer of this.#all) observer.finished?.();
  }
}
