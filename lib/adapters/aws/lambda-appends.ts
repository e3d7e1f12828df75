/**
 * The `append` functions of other regions, called directly. An answer, a refusal too, comes from the
 * function's own code; everything else rejects, without effect only where Lambda itself refused the call.
 *
 * M1 A throttle is an answer: over capacity. A region that has too much to do lives, and keeps its logs.
 * M2 So does one that is slow: a question is waited for longer than its asker waits, since a late answer is a
 *    sign of life.
 */
import { readObject } from "../../formats/json-fields.ts";
import { FencelineError, unavailable } from "../../protocol/errors.ts";
import type { LogIncarnation, LogName, Region } from "../../protocol/ids.ts";
import { limits } from "../../protocol/limits.ts";
import type {
  ForwardAnswer,
  OwnerAnswer,
  OwnerRequest,
  RegionAppends,
} from "../../protocol/log/log-ports.ts";
import type { AppendRequest } from "../../protocol/log/operations.ts";
import type { Settler } from "../../protocol/log/settler.ts";
import { type AppendCall, encodeAppendCall } from "./append-call.ts";
import { decodeReply, type Reply } from "./call-envelope.ts";
import { callFailure } from "./call-failure.ts";
import { callFunction, type LambdaFunction } from "./lambda-call.ts";
import { decodeAck, decodeOwnership } from "./owner-call.ts";

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
    const timeoutMs = limits.ownerFailureGapMaxMs; // M2
    const reply = await this.#call(region, { operation: "can-own", log }, (answer) => answer, timeoutMs);
    // A failure is no silence. What keeps it from owning, it will say when an append arrives.
    return reply.kind === "failure" || reply.answer === true;
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
    const sent = callFunction(target, call.operation, encodeAppendCall(call), { timeoutMs });
    const answer = await sent.catch((error: unknown) => throttled(region, error));
    return answer instanceof FencelineError
      ? { kind: "failure", error: answer }
      : decodeReply(answer, decode);
  }
}

/** M1. Throws the error if it is none. */
function throttled(region: Region, error: unknown): FencelineError {
  const cause = error instanceof FencelineError ? error.cause : undefined;
  if (cause === undefined || callFailure(cause).status !== TOO_MANY_REQUESTS) throw error;
  return new FencelineError("over_capacity", {
    message: `the append function of region ${region} has too much to do; try again`,
    sideEffects: "none",
    details: { scope: "region", retry_after_ms: RETRY_AFTER_MS },
    cause: error,
  });
}

const TOO_MANY_REQUESTS = 429;
const RETRY_AFTER_MS = 1_000;

/** Wait for the owner's function to settle a tail, before one's own is asked, which takes over. */
const SETTLE_WAIT_MS = 2_500;

/** Has tails settled for the `read` function, which cannot write: by the owner's region, or by its own. */
export function lambdaSettler(appends: LambdaAppends, own: Region): Settler {
  return {
    settle: async (owner, log) => {
      if (owner !== own) {
        try {
          return await appends.settle(owner, log, SETTLE_WAIT_MS);
        } catch {
          // Silent or unable: one's own region takes over.
        }
      }
      await appends.settle(own, log, limits.appendDeadlineMs);
    },
  };
}

function decodeDone(value: unknown): OwnerAnswer {
  return readObject("an owner's answer", value, (fields) => ({
    kind: "done",
    ...(fields.has("ownership") ? { ownership: fields.object("ownership", decodeOwnership) } : {}),
  }));
}
