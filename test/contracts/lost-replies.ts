/**
 * Calls whose replies get lost. The caller sees `unavailable`, side effects possible; the effect happened
 * ("after") or did not ("before"), and the caller cannot know which.
 */
import { FencelineError } from "../../lib/protocol/errors.ts";

export type Loss = "before" | "after";

/** To the protocol an `unavailable` like any other; a test can distinguish it from a refusal that is meant. */
export class LostReply extends FencelineError {
  constructor(method: string) {
    super("unavailable", { message: `${method}: reply lost` });
  }
}

/** One call: its number from 0 in the order of calls, and whether one just like it was made before. */
export interface Call {
  readonly number: number;
  readonly method: string;
  readonly isFirstAttempt: boolean;
}

export type Lose = (call: Call) => Loss | undefined;

export interface LossyEdge {
  /** `target` with some of its replies lost. Several targets may share one edge and its numbering. */
  wrap<T extends object>(target: T): T;
  /** Calls made over the edge so far. */
  calls(): number;
  /** Replies lost so far. */
  lost(): number;
}

export const loseNothing: Lose = () => undefined;
/** Only the reply of the n-th call is lost. */
export const loseCall =
  (number: number, loss: Loss): Lose =>
  (call) =>
    call.number === number ? loss : undefined;
/** Every call is lost when it is made for the first time; made again, it is answered. */
export const loseFirstAttempts =
  (loss: Loss): Lose =>
  (call) =>
    call.isFirstAttempt ? loss : undefined;

export function lossyEdge(lose: Lose): LossyEdge {
  const seen = new Set<string>();
  let calls = 0;
  let lost = 0;

  async function called(method: string, args: readonly unknown[], act: () => Promise<unknown>) {
    const identity = `${method} ${JSON.stringify(args, shortBytes)}`;
    const loss = lose({ number: calls++, method, isFirstAttempt: !seen.has(identity) });
    seen.add(identity);
    if (loss === undefined) return await act();
    lost += 1;
    if (loss === "after") await act();
    throw new LostReply(method);
  }

  return {
    wrap: <T extends object>(target: T): T =>
      new Proxy(target, {
        get(_, name) {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== "function" || typeof name !== "string") return member;
          return (...args: unknown[]) => called(name, args, async () => await member.apply(target, args));
        },
      }),
    calls: () => calls,
    lost: () => lost,
  };
}

/** Enough to distinguish calls, without spelling out megabytes. */
function shortBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? `${value.length} bytes: ${value.subarray(0, 16).join()}` : value;
}
