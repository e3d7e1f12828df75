/** The whole story of a run, one line for each thing that happened: what two runs of one seed must share. */

import type { StoreValue } from "../../lib/protocol/ports.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import type { StoreChange } from "./bookie-storage.ts";
import { contentOf } from "./content.ts";
import type { Operation } from "./history.ts";
import type { FailuresChange, LeaseChange } from "./lease-table.ts";
import type { MetadataChange } from "./metadata-table.ts";
import type { FunctionCall, FunctionOutcome, Observer, RegionCall, ServedCall } from "./observations.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

export class RunTrace implements Observer {
  readonly lines: string[] = [];

  constructor(private readonly world: World) {}

  storeChanged({ bookie, key, before, after }: StoreChange): void {
    if (key.kind === "incarnation") return;
    const where = key.kind === "fence" ? "fence" : `slot ${key.entryId}`;
    this.#line(`${shortName(bookie)} ledger ${key.ledgerId} ${where}: ${told(before)} -> ${told(after)}`);
  }

  metadataChanged({ key, after }: MetadataChange): void {
    this.#line(
      `metadata ${key.partition}/${key.sort}: ${after === undefined ? "removed" : itemTold(after.item)}`,
    );
  }

  bookieAnswered({ bookie, operation, ledgerId, entryId }: ServedCall, answer: unknown): void {
    const what = entryId === undefined ? operation : `${operation} ${entryId}`;
    this.#line(`${shortName(bookie)} ledger ${ledgerId} answers ${what}: ${answerTold(answer)}`);
  }

  emitted({ event, ...facts }: TraceEvent, process: SimulatedProcess): void {
    this.#line(`${process.name} ${event} ${JSON.stringify(facts)}`);
  }

  leaseChanged({ region, log, after, process }: LeaseChange): void {
    this.#line(`leases of ${region}, log ${log}: ${process.name} writes ${JSON.stringify(after)}`);
  }

  failuresCounted({ region, owner, after, process }: FailuresChange): void {
    this.#line(`failures of ${owner} in ${region}: ${process.name} writes ${JSON.stringify(after)}`);
  }

  functionCalled({ process, kind, isForwarded, request }: FunctionCall, outcome: FunctionOutcome): void {
    const records = request?.records.map(({ body }) => contentOf(body)).join(" ") ?? "";
    const what = `${isForwarded ? "forwarded " : ""}${kind} ${records}`;
    const said = outcome.kind === "failed" ? `failed ${outcome.error}` : outcome.kind;
    this.#line(`${process.name} ${what}: ${said}`);
  }

  regionCalled({ process, to, what }: RegionCall, answer: unknown): void {
    this.#line(`${process.name} ${answer === undefined ? "asks" : "is answered by"} ${to} ${what}`);
  }

  operated({ actor, number, request, answer }: Operation): void {
    const asked = `#${number} ${JSON.stringify(request)}`;
    this.#line(
      `${actor} ${answer === undefined ? "asks" : "is told"} ${asked} ${JSON.stringify(answer) ?? ""}`,
    );
  }

  #line(text: string): void {
    this.lines.push(`${this.world.scheduler.nowMs.toFixed(3).padStart(12)} ${text}`);
  }
}

const shortName = (bookie: string): string => bookie.split("~")[0] ?? bookie;

function told(value: StoreValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value.kind !== "original" && value.kind !== "recovered") return value.kind;
  return `${value.kind}(${contentOf(value.entry.payload)})`;
}

function answerTold(answer: unknown): string {
  if (answer === undefined) return "done";
  const { kind, copy, highest } = answer as { kind?: string; copy?: string; highest?: { header: object } };
  if (kind !== undefined) return copy === undefined ? kind : `${copy} ${kind}`;
  return `highest ${JSON.stringify(highest?.header) ?? "unknown"}`;
}

function itemTold(item: object): string {
  const short = (key: string, value: unknown) =>
    key === "place" || key === "replication" ? undefined : value;
  return JSON.stringify(item, short);
}
