/**
 * Runs a port's contract against one adapter: every case as it is, and every case again with replies lost,
 * before and after their effect: each call's in turn, and all calls' first attempts together.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXHAUSTIVE } from "../cpu-bound.ts";
import {
  type Lose,
  type Loss,
  LostReply,
  loseCall,
  loseFirstAttempts,
  loseNothing,
  lossyEdge,
} from "./lost-replies.ts";
import { Scope } from "./scope.ts";

export type Edge = <T extends object>(target: T) => T;

export interface ContractCase<P> {
  readonly title: string;
  /** Counts or lists everything, and so needs a port that nobody used before. */
  readonly fresh?: true;
  /** So many calls that losing each in turn takes too long: only first attempts are lost. */
  readonly heavy?: true;
  /** Throws if the port breaks the contract. */
  readonly run: (port: P, scope: Scope) => Promise<void>;
}

export interface Opened<P> {
  /**
   * The port. With an edge: the port behind it, used by a caller that copes with lost replies as the
   * protocol does, so that the same case must come to the same end.
   */
  readonly port: (edge?: Edge) => P;
  readonly close: () => Promise<void>;
}

/** A store as an adapter's test opens it. */
export interface OpenedStore<S> {
  readonly store: S;
  readonly close: () => Promise<void>;
}

/** What an adapter's contract depends on besides the port. */
export interface AdapterTraits {
  /** What "many" is in its cases; fewer for a store that is reached over a network. */
  readonly many?: number;
  /** Replies get lost beyond those that the suite loses, so that rivals' writes cannot always be distinguished. */
  readonly isFaulty?: boolean;
  /** Every write waits for a disk, so that losing each call in turn is left to the exhaustive tests. */
  readonly isOnDisk?: boolean;
}

export interface Contract<P> extends AdapterTraits {
  readonly name: string;
  readonly cases: readonly ContractCase<P>[];
  readonly open: () => Promise<Opened<P>>;
}

export function describeContract<P>(contract: Contract<P>): void {
  describe(contract.name, () => {
    let shared: Opened<P>;
    beforeAll(async () => {
      shared = await contract.open();
    });
    afterAll(() => shared.close());

    /** Runs one case once, over a port of its own if it needs one. */
    async function run(one: ContractCase<P>, lose?: Lose): Promise<{ calls: number; lost: number }> {
      const opened = one.fresh ? await contract.open() : shared;
      const edge = lossyEdge(lose ?? loseNothing);
      const mayLose = lose !== undefined && lose !== loseNothing;
      try {
        await one.run(
          opened.port(lose === undefined ? undefined : edge.wrap),
          new Scope(contract.many, contract.isFaulty === true || mayLose),
        );
      } finally {
        if (one.fresh) await opened.close();
      }
      return { calls: edge.calls(), lost: edge.lost() };
    }

    for (const one of contract.cases) {
      it(one.title, async () => {
        await run(one);
      });
    }

    describe.each<Loss>(["before", "after"])("with replies lost %s the effect", (loss) => {
      for (const one of contract.cases) {
        it(`${one.title} (first attempts)`, async () => {
          const { lost } = await run(one, loseFirstAttempts(loss));
          expect(lost).toBeGreaterThan(0);
        });
        if (one.heavy) continue;
        it(`${one.title} (each call in turn)`, contract.isOnDisk ? EXHAUSTIVE : {}, async () => {
          const { calls } = await run(one, loseNothing);
          expect(calls).toBeGreaterThan(0);
          for (let call = 0; call < calls; call++) {
            const { calls: made, lost } = await run(one, loseCall(call, loss));
            // Over a network rivals meet in another order each time, and need more calls or fewer.
            expect(lost).toBe(call < made ? 1 : 0);
          }
        });
      }
    });
  });
}

/** One call of a bookie is many of its storage, and each of those may be lost once. */
const ATTEMPTS_MAX = 100;

/** Runs a call again while its replies get lost: for calls that may run any number of times. */
export async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof LostReply) || attempt >= ATTEMPTS_MAX) throw error;
    }
  }
}
