/**
 * The `append` functions of other regions, called directly. An answer, a refusal too, comes from the
 * function's own code; everything else rejects, without effect only where Lambda itself refused the call. A
 * throttle is an answer too: too much to do is not death. Nor is slowness: a question is
 * waited for longer than its asker waits, since a late answer is a sign of life.
 */

import { decodeAck } from "../../formats/append-format.ts";
import { readObject } from "../../formats/json-fields.ts";
import { hasCode, unavailable } from "../../protocol/errors.ts";
import type { LogIncarnation, LogName, Region } from "../../protocol/ids.ts";
import { limits } from "../../protocol/limits.ts";
import type {
  ForwardAnswer,
  OwnerAnswer,
  OwnerRequest,
  RegionAppends,
  Settler,
} from "../../protocol/log/log-ports.ts";
import type { AppendRequest } from "../../protocol/log/operations.ts";
import { type AppendCall, encodeAppendCall } from "./append-call.ts";
import { decodeReply, type Reply } from "./call-envelope.ts";
import { callFunction, type LambdaFunction } from "./lambda-call.ts";
import { decodeOwnership } from "./owner-call.ts";

export class LambdaAppends implements RegionAppends {
  /** `find`: a region's append function; undefined if the deployment has no such region. */
  constructor(private readonly find: (region: Region) => LambdaFunction | undefined) {}

  async append(region: Region, request: AppendRequest): Promise<ForwardAnswer> {
    const timeoutMs = (request.timeoutMs ?? limits.appendDeadlineMs) + limits.forwardMarginMs;
    const reply = await this.#call(region, { operation: "append", request }, decodeAck, timeoutMs);
    if (reply.kind === "failure") return { kind: "refused", error: reply.error };
    return { kind: "acknowledged", ack: reply.answer };
  }

  async canOwn(region: Region, log: LogIncarnation): Promise<boolean> {
    const reply = await this.#canOwn(region, log);
    // A failure is no silence. What keeps it from owning, it will say when an append arrives.
    return reply.kind === "failure" || reply.answer === true;
  }

  /** The same for what is said of a region's health. Throws whatever keeps its function from an answer. */
  async serves(region: Region, log: LogIncarnation): Promise<boolean> {
    const reply = await this.#canOwn(region, log);
    if (reply.kind === "failure") throw reply.error;
    return reply.answer === true;
  }

  #canOwn(region: Region, log: LogIncarnation): Promise<Reply<unknown>> {
    const timeoutMs = limits.ownerFailureGapMaxMs;
    return this.#call(region, { operation: "can-own", log }, (answer) => answer, timeoutMs);
  }

  async ask(region: Region, request: OwnerRequest): Promise<OwnerAnswer> {
    const reply = await this.#call(region, { operation: "ask", request }, decodeDone);
    return reply.kind === "failure" ? { kind: "refused", error: reply.error } : reply.answer;
  }

  /** Rule 14, for readers: the region's function goes to the owner, or takes over. */
  async settle(region: Region, log: LogName, timeoutMs: number): Promise<void> {
    const reply = await this.#call(region, { operation: "settle", log }, () => undefined, timeoutMs);
    if (reply.kind === "failure") throw reply.error;
  }

  async #call<T>(
    region: Region,
    call: AppendCall,
    decode: (answer: unknown) => T,
    timeoutMs?: number,
  ): Promise<Reply<T>> {
    const target = this.find(region);
    if (target === undefined) throw unavailable(`this deployment has no region ${region}`, "none");
    try {
      const answer = await callFunction(target, call.operation, encodeAppendCall(call), { timeoutMs });
      return decodeReply(answer, decode);
    } catch (error) {
      if (hasCode(error, "over_capacity")) return { kind: "failure", error };
      throw error;
    }
  }
}

/**
 * Has tails settled for the `read` function, which cannot write: by its own region's function, which asks the
 * owner and takes over if that is silent. The reader has no right to call any other.
 */
export function lambdaSettler(appends: LambdaAppends, own: Region): Settler {
  return { settle: (_owner, log) => appends.settle(own, log, limits.appendDeadlineMs) };
}

function decodeDone(value: unknown): OwnerAnswer {
  return readObject("an owner's answer", value, (fields) => ({
    kind: "done",
    ...(fields.has("ownership") ? { ownership: fields.object("ownership", decodeOwnership) } : {}),
  }));
}
