/**
 * Faults at ports, scripted by a story: hold a call before or after its effect, refuse it, lose its reply.
 * A rule applies to calls that match it, as often as it says, in the order in which the rules were made.
 */
import { unavailable } from "../../lib/protocol/errors.ts";

/** One call at a port. `client` made it; `target` is a bookie's or a region's name, "metadata" or "lease". */
export interface PortCall {
  readonly port: "bookie" | "store" | "metadata" | "lease" | "inbox" | "region";
  readonly client: string;
  readonly target: string;
  readonly call: string;
  /** The entry, the store key's kind or the item's partition: what the call is about. */
  readonly about: string;
}

export interface Match {
  readonly port?: PortCall["port"];
  readonly client?: string;
  readonly target?: string;
  readonly call?: string;
  readonly about?: string | number;
}

export type Moment = "before" | "after";

interface Rule {
  readonly match: Match;
  readonly moment: Moment;
  remaining: number;
  readonly act: (call: PortCall) => Promise<void>;
}

/** Calls that wait at one point until the story lets them go on. */
export class Held {
  readonly calls: PortCall[] = [];
  #waiting: { go: () => void; fail: (error: unknown) => void }[] = [];
  #open = false;

  constructor(private readonly retire: () => void) {}

  wait(call: PortCall): Promise<void> {
    this.calls.push(call);
    if (this.#open) return Promise.resolve();
    return new Promise((go, fail) => this.#waiting.push({ go, fail }));
  }

  /** Lets them go on, and all later ones too. */
  release(): void {
    this.#open = true;
    this.retire();
    for (const { go } of this.#waiting.splice(0)) go();
  }

  /** Ends them without an answer that proves anything; later calls are not held any more. */
  lose(): void {
    this.#open = true;
    this.retire();
    for (const { fail } of this.#waiting.splice(0)) fail(unavailable("lost"));
  }
}

export class Faults {
  #rules: Rule[] = [];
  readonly log: PortCall[] = [];

  /** Holds matching calls before (or after) their effect. */
  hold(match: Match, moment: Moment = "before", times = Number.POSITIVE_INFINITY): Held {
    const held: Held = new Held(() => this.#remove(rule));
    const rule: Rule = { match, moment, remaining: times, act: (call) => held.wait(call) };
    this.#rules.push(rule);
    return held;
  }

  /** Matching calls fail before their effect, or after it ("the reply is lost"). Returns how to end it. */
  fail(match: Match, moment: Moment = "before", times = Number.POSITIVE_INFINITY): () => void {
    const act = async (call: PortCall) => {
      throw unavailable(`${call.call} at ${call.target}: ${moment === "before" ? "refused" : "reply lost"}`);
    };
    const rule: Rule = { match, moment, remaining: times, act };
    this.#rules.push(rule);
    return () => this.#remove(rule);
  }

  /** Runs something of the story's at matching calls. */
  at(match: Match, moment: Moment, times: number, act: () => Promise<void> | void): void {
    this.#rules.push({ match, moment, remaining: times, act: async () => act() });
  }

  /** Makes the call with whatever the rules do to it. */
  async through<T>(call: PortCall, effect: () => Promise<T>): Promise<T> {
    this.log.push(call);
    await this.#apply(call, "before");
    const result = await effect();
    await this.#apply(call, "after");
    return result;
  }

  /** How many matching calls were made so far. */
  count(match: Match): number {
    return this.log.filter((call) => matches(match, call)).length;
  }

  async #apply(call: PortCall, moment: Moment): Promise<void> {
    for (const rule of [...this.#rules]) {
      if (rule.moment !== moment || rule.remaining < 1 || !matches(rule.match, call)) continue;
      rule.remaining -= 1;
      await rule.act(call);
    }
  }

  #remove(rule: Rule): void {
    this.#rules = this.#rules.filter((other) => other !== rule);
  }
}

function matches(match: Match, call: PortCall): boolean {
  if (match.port !== undefined && match.port !== call.port) return false;
  if (match.client !== undefined && match.client !== call.client) return false;
  if (match.target !== undefined && match.target !== call.target) return false;
  if (match.call !== undefined && match.call !== call.call) return false;
  return match.about === undefined || String(match.about) === call.about;
}
