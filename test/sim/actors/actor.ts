/**
 * An actor: a client with things to do. It lives in a process; when that process freezes or crashes a
 * successor takes over what is left to do, beside the old one if that thaws.
 */
import type { LedgerPorts } from "../../../lib/protocol/ledger/ledger-ports.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import type { ActorPlan } from "../plan.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";

/** What is left to do, shared by all processes of one actor. */
export interface Work {
  left: number;
}

/** Things that a process does after a thaw that came when the others had stopped. */
const LATE_MAX = 4;

export class Actor<P extends ActorPlan = ActorPlan> {
  readonly ports: LedgerPorts;
  #late = 0;

  constructor(
    readonly world: World,
    readonly plan: P,
    readonly process: SimulatedProcess,
    /** What this actor draws; goes on in its successor. */
    readonly random: SeededRandom,
    private readonly work: Work,
  ) {
    this.ports = world.ports(process);
  }

  get name(): string {
    return this.plan.name;
  }

  /** Whether there is one more thing to do; it is then taken. */
  takesOne(): boolean {
    if (this.#takesOneLate()) return true;
    if (this.work.left <= 0 || this.world.scheduler.nowMs >= this.world.plan.workMs) return false;
    this.work.left--;
    return true;
  }

  /** A writer that thaws when everything is over does not know: it goes on, whatever its successor did. */
  #takesOneLate(): boolean {
    const thawedLate = (this.process.thawedAtMs ?? 0) >= this.world.plan.workMs;
    if (this.plan.kind !== "ledger-writer" || !thawedLate || this.#late >= LATE_MAX) return false;
    this.#late++;
    return true;
  }

  /** Waits for about the planned pause, now and then much longer, often not at all. */
  async rest(): Promise<void> {
    const { pauseMs } = this.plan;
    const drawn = this.random.chance(0.1)
      ? this.random.between(0, 10 * pauseMs)
      : this.random.between(0, pauseMs);
    await pause(this.ports.clock, drawn);
  }
}
