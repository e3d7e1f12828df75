/** A reader, its bookies and virtual time: bookies answer, fail or keep silent as a test decides. */

import { bookieId, region } from "../../../lib/protocol/ids.ts";
import type { ReaderPlace } from "../../../lib/protocol/reads/order-replicas.ts";
import { ReadPolicy } from "../../../lib/protocol/reads/read-policy.ts";
import type { Judgement } from "../../../lib/protocol/reads/speculative-read.ts";
import { type SpeculativeAnswer, speculativeRead } from "../../../lib/protocol/reads/speculative-read.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import type { CallSignal } from "../../../lib/protocol/waiting.ts";
import { VirtualClock } from "../../bench/reads/virtual-time.ts";
import { Scheduler } from "../../sim/scheduler.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";

export type Says = "entry" | "nothing" | "damaged copy" | "error";

/** What a bookie does with a request: says something after so many ms, or never anything. */
export type Behaviour = { readonly afterMs: number; readonly says: Says } | "silent";

export interface Call {
  readonly bookie: BookieAddress;
  readonly atMs: number;
  readonly signal: CallSignal;
  readonly read: number;
}

export const silent = "silent";
/** Says something after so many ms. */
export const inMs = (afterMs: number, says: Says = "entry"): Behaviour => ({ afterMs, says });

/** A bookie `name` at `/region/rack`. */
export function bookieAt(name: string, place: string): BookieAddress {
  const [, regionName = "", rack = ""] = place.split("/");
  return { id: bookieId(`${regionName}.${name}~s-${name}`), place: { region: region(regionName), rack } };
}

/** Virtual time that can also stand still for the process while it goes on for the rest of the world. */
export class ProcessClock extends VirtualClock {
  #frozenMs = 0;

  override nowMs(): number {
    return super.nowMs() + this.#frozenMs;
  }

  override monotonicMs(): number {
    return super.monotonicMs() + this.#frozenMs;
  }

  /** No timer fires and no answer arrives for so long. */
  freeze(durationMs: number): void {
    this.#frozenMs += durationMs;
  }
}

/** Takes whatever a bookie answers. */
export const anyAnswer = <A>(answer: A): Judgement<A> => ({ usable: true, value: answer });

export class ReadingWorld {
  readonly scheduler = new Scheduler();
  readonly clock = new ProcessClock(this.scheduler);
  readonly random: SeededRandom;
  readonly policy: ReadPolicy;
  /** Requests sent, in order. */
  readonly calls: Call[] = [];
  /** Answers that were judged, in order. */
  readonly judged: Says[] = [];
  readonly #behaviours = new Map<BookieAddress, (read: number) => Behaviour>();
  #reads = 0;

  constructor(place: ReaderPlace = { region: region("r1") }, seed = 1) {
    this.random = new SeededRandom(seed, "bookies");
    this.policy = new ReadPolicy({ clock: this.clock, random: new SeededRandom(seed, "policy"), place });
  }

  /** How `bookie` answers from now on; the number of the read is given. By default after 10 ms. */
  behave(bookie: BookieAddress, behaviour: Behaviour | ((read: number) => Behaviour)): void {
    this.#behaviours.set(bookie, typeof behaviour === "function" ? behaviour : () => behaviour);
  }

  start(writeSet: readonly BookieAddress[]): Promise<SpeculativeAnswer<Says>> {
    const read = this.#reads++;
    return speculativeRead(this.policy, {
      writeSet,
      call: (bookie, signal) => this.#call(bookie, signal, read),
      judge: (says) => this.#judge(says),
    });
  }

  /** Reads and lets time pass until the read is over. */
  read(writeSet: readonly BookieAddress[]): Promise<SpeculativeAnswer<Says>> {
    return this.settle(this.start(writeSet));
  }

  /** Reads one after another, as many as asked for, with a pause between them. */
  async readMany(writeSet: readonly BookieAddress[], reads: number, pauseMs = 0): Promise<void> {
    for (let read = 0; read < reads; read++) {
      await this.read(writeSet);
      if (pauseMs > 0) await this.pass(pauseMs);
    }
  }

  async settle<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.scheduler.run(() => isSettled);
    return await promise;
  }

  async pass(durationMs: number): Promise<void> {
    let isOver = false;
    this.scheduler.after(durationMs, () => {
      isOver = true;
    });
    await this.scheduler.run(() => isOver);
  }

  /** Names of the bookies that the read asked, in order. */
  asked(read: number): string[] {
    return this.calls.filter((call) => call.read === read).map((call) => nameOf(call.bookie));
  }

  /** The number of the read that started last. */
  get lastRead(): number {
    return this.#reads - 1;
  }

  #judge(says: Says): Judgement<Says> {
    this.judged.push(says);
    return says === "entry" ? { usable: true, value: says } : { usable: false, said: `has ${says}` };
  }

  /** An aborted request is answered all the same: late answers are what is to be tested. */
  #call(bookie: BookieAddress, signal: CallSignal, read: number): Promise<Says> {
    this.calls.push({ bookie, atMs: this.scheduler.nowMs, signal, read });
    const behaviour = this.#behaviours.get(bookie)?.(read) ?? inMs(10);
    return new Promise((resolve, reject) => {
      if (behaviour === "silent") return;
      const { afterMs, says } = behaviour;
      this.scheduler.after(afterMs, () => {
        if (says === "error") reject(new Error("refused"));
        else resolve(says);
      });
    });
  }
}

export function nameOf(bookie: BookieAddress): string {
  return bookie.id.split("~s-")[1] ?? bookie.id;
}
