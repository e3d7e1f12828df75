/** What a run did, in numbers. */
import type { LogIncarnation, Region } from "../../lib/protocol/ids.ts";
import type { TraceEvent } from "../../lib/protocol/trace-events.ts";
import type { Observer } from "./observations.ts";
import type { World } from "./world.ts";

export interface RunCounts {
  /** Messages that arrived and store operations that took effect. */
  readonly steps: number;
  readonly acknowledged: number;
  /** Recoveries that came to an end, their own or one they adopted. */
  readonly recoveries: number;
  readonly ensembleChanges: number;
  /** Segments opened by another region than the one before. */
  readonly takeovers: number;
  readonly faults: ReadonlyMap<string, number>;
}

export class RunCounter implements Observer {
  #acknowledged = 0;
  #recoveries = 0;
  #ensembleChanges = 0;
  #takeovers = 0;
  readonly #owners = new Map<LogIncarnation, Region>();

  emitted(event: TraceEvent): void {
    switch (event.event) {
      case "entry-acknowledged":
        this.#acknowledged++;
        return;
      case "ledger-closed":
        if (event.by === "recovery") this.#recoveries++;
        return;
      case "recovery-adopted":
        this.#recoveries++;
        return;
      case "ensemble-changed":
        this.#ensembleChanges++;
        return;
      case "segment-opened": {
        const owner = this.#owners.get(event.log);
        if (owner !== undefined && owner !== event.region) this.#takeovers++;
        this.#owners.set(event.log, event.region);
        return;
      }
      default:
        return;
    }
  }

  counts(world: World): RunCounts {
    return {
      steps: world.wires.steps,
      acknowledged: this.#acknowledged,
      recoveries: this.#recoveries,
      ensembleChanges: this.#ensembleChanges,
      takeovers: this.#takeovers,
      faults: world.faults.fired,
    };
  }
}

/** The sum of two runs' counts. */
export function together(one: RunCounts, other: RunCounts): RunCounts {
  const faults = new Map(one.faults);
  for (const [kind, count] of other.faults) faults.set(kind, (faults.get(kind) ?? 0) + count);
  return {
    steps: one.steps + other.steps,
    acknowledged: one.acknowledged + other.acknowledged,
    recoveries: one.recoveries + other.recoveries,
    ensembleChanges: one.ensembleChanges + other.ensembleChanges,
    takeovers: one.takeovers + other.takeovers,
    faults,
  };
}

export const nothing: RunCounts = {
  steps: 0,
  acknowledged: 0,
  recoveries: 0,
  ensembleChanges: 0,
  takeovers: 0,
  faults: new Map(),
};
