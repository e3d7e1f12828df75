/**
 * A region's `read` function: HTTP requests that change nothing. Tails are settled by an `append` function.
 */
import type { Writable } from "node:stream";
import type { APIGatewayProxyResult } from "aws-lambda";
import { lambdaSettler } from "../adapters/aws/lambda-appends.ts";
import { createApi } from "../api/api.ts";
import type { ApiApp } from "../api/route.ts";
import { composeRegion } from "../protocol/compose-region.ts";
import { answerHttp, httpAnswer, isHttpRequest, isOfGateway } from "./http-requests.ts";
import { noAppends } from "./not-served-here.ts";
import { regionHealth } from "./region-health.ts";
import type { RegionWorld } from "./region-world.ts";
import { ended, streamAnswer } from "./response-stream.ts";

export class ReadFunction {
  readonly #world: RegionWorld;
  #api: ApiApp;

  constructor(world: RegionWorld) {
    this.#world = world;
    world.trace.follow("hedges", () => world.ports.reads.counters.hedges);
    this.#api = this.#newApi();
  }

  /** One event of API Gateway, answered whole. */
  async serve(event: unknown): Promise<unknown> {
    return await this.#measured(() => this.#whole(event));
  }

  /** The same, the answer leaving as it is made; whole for a caller that invoked the function itself. */
  async stream(event: unknown, stream: Writable): Promise<void> {
    await this.#measured(async () => {
      if (isHttpRequest(event) && isOfGateway(event)) {
        return await streamAnswer(stream, await httpAnswer(this.#api, this.#world.region, event));
      }
      await ended(stream, JSON.stringify(await this.#whole(event)));
    });
  }

  async #whole(event: unknown): Promise<APIGatewayProxyResult> {
    if (!isHttpRequest(event)) throw new Error("the read function takes events of a REST API, and no others");
    return await answerHttp(this.#api, this.#world.region)(event);
  }

  async #measured<T>(answer: () => Promise<T>): Promise<T> {
    const { trace, ports } = this.#world;
    const startedMs = ports.clock.monotonicMs();
    try {
      return await answer();
    } finally {
      trace.took("duration", ports.clock.monotonicMs() - startedMs);
      trace.flush();
    }
  }

  #newApi(): ApiApp {
    const { ports, appends, region, defaultConfig, trace } = this.#world;
    const { read, operators } = composeRegion(ports, { settler: () => lambdaSettler(appends, region) });
    return createApi({
      append: noAppends(),
      read,
      regions: operators,
      region,
      defaultConfig,
      allowedOrigins: this.#world.settings.allowedOrigins,
      health: () => regionHealth(this.#world),
      // A defect ends a function's memory; the next request meets a new one.
      onFault: (error, requestId) => {
        const fault = error instanceof Error ? error : new Error(String(error));
        trace.logger.error(`request ${requestId} met a defect`, fault);
        trace.count("defects");
        this.#api = this.#newApi();
      },
    });
  }
}
