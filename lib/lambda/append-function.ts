/**
 * A region's `append` function: HTTP requests that write, and what the functions of other regions ask.
 *
 * AF1 Every lease is released before the answer leaves: the process may then stand still for ever, and a
 *     lease that it held would cost the next one a recovery (rules 17, 18).
 * AF2 The registry is read when the process starts. The first request waits for that, not long; a question
 *     whether this region lives never waits.
 * AF3 After a defect nothing that was in memory is trusted: the next call meets new writers.
 */
import { type AppendCall, decodeAppendCall } from "../adapters/aws/append-call.ts";
import { replyTo } from "../adapters/aws/call-envelope.ts";
import { encodeOwnership } from "../adapters/aws/owner-call.ts";
import { createApi } from "../api/api.ts";
import { encodeAck } from "../formats/append-format.ts";
import type { JsonObject, JsonValue } from "../formats/json-fields.ts";
import { type ComposedRegion, composeRegion } from "../protocol/compose-region.ts";
import { hasCode } from "../protocol/errors.ts";
import type { LogAppends } from "../protocol/log/log-appends.ts";
import type { AppendAck, AppendRequest } from "../protocol/log/operations.ts";
import { withTimeout } from "../protocol/waiting.ts";
import { answerHttp, type HttpAnswerer, isHttpRequest } from "./http-requests.ts";
import { noReads } from "./not-served-here.ts";
import { regionHealth } from "./region-health.ts";
import type { RegionWorld } from "./region-world.ts";

/** The answer waits no longer for the leases; those that were not released expire. */
const RELEASE_WAIT_MS = 1_500;

export class AppendFunction {
  readonly #world: RegionWorld;
  #region: ComposedRegion;
  #http: HttpAnswerer;

  constructor(world: RegionWorld) {
    this.#world = world;
    // Of recovery, and of producers that are restored.
    world.trace.follow("hedges", () => world.ports.reads.counters.hedges);
    this.#region = composeRegion(world.ports);
    this.#http = this.#newHttp();
    world.ports.registry.whenCurrent(); // AF2
  }

  /** One event, from API Gateway or from another function of the deployment. */
  async serve(event: unknown): Promise<unknown> {
    const { trace, ports } = this.#world;
    const startedMs = ports.clock.monotonicMs();
    const { append } = this.#region;
    try {
      return isHttpRequest(event) ? await this.#http(event) : await this.#answer(event);
    } finally {
      // AF1
      await withTimeout(ports.clock, RELEASE_WAIT_MS, "release", () => append.release()).catch(() => {});
      trace.took("duration", ports.clock.monotonicMs() - startedMs);
      trace.flush();
    }
  }

  /** A call of another function: answered or refused here, never passed on. */
  async #answer(event: unknown): Promise<JsonObject> {
    try {
      return await replyTo(
        async () => await this.#answerCall(decodeAppendCall(event)),
        (answer) => answer,
      );
    } catch (error) {
      this.#onFault(error, "a call of another region");
      throw error; // FunctionError: the caller knows nothing
    }
  }

  async #answerCall(call: AppendCall): Promise<JsonValue> {
    const { append } = this.#region;
    switch (call.operation) {
      case "append":
        return encodeAck(await this.#counted(append, call.request));
      case "can-own":
        return await append.canOwn(call.log);
      case "settle":
        await append.settle(call.log);
        return null;
      case "ask": {
        const answer = await append.serve(call.request);
        if (answer.kind === "refused") throw answer.error;
        const { ownership } = answer;
        return ownership === undefined ? {} : { ownership: encodeOwnership(ownership) };
      }
    }
  }

  #newHttp(): HttpAnswerer {
    const { append, operators } = this.#region;
    const operations = {
      createLog: append.createLog.bind(append),
      append: (request: AppendRequest) => this.#counted(append, request),
      preferRegion: append.preferRegion.bind(append),
      transferOwner: append.transferOwner.bind(append),
      settle: append.settle.bind(append),
      trim: append.trim.bind(append),
      seal: append.seal.bind(append),
      deleteLog: append.deleteLog.bind(append),
      recoverLedger: append.recoverLedger.bind(append),
    };
    const { region, defaultConfig, settings } = this.#world;
    return answerHttp(
      createApi({
        append: operations,
        read: noReads(),
        regions: operators,
        region,
        defaultConfig,
        allowedOrigins: settings.allowedOrigins,
        health: () => regionHealth(this.#world),
        onFault: (error, requestId) => this.#onFault(error, `request ${requestId}`),
      }),
      region,
    );
  }

  /** AF3 */
  #onFault(error: unknown, where: string): void {
    const fault = error instanceof Error ? error : new Error(String(error));
    this.#world.trace.logger.error(`${where} met a defect`, fault);
    this.#world.trace.count("defects");
    this.#region = composeRegion(this.#world.ports);
    this.#http = this.#newHttp();
  }

  async #counted(append: LogAppends, request: AppendRequest): Promise<AppendAck> {
    const { trace } = this.#world;
    try {
      const ack = await append.append(request);
      trace.count("recordsAppended", request.records.length);
      return ack;
    } catch (error) {
      if (hasCode(error, "unknown_outcome")) trace.count("unknownOutcomes");
      throw error;
    }
  }
}
