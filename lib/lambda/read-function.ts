/**
 * A region's `read` function: HTTP requests that change nothing. Tails are settled by an `append` function.
 */
import { lambdaSettler } from "../adapters/aws/lambda-appends.ts";
import { createApi } from "../api/api.ts";
import { LogReads } from "../protocol/log/log-reads.ts";
import { RegisteredRegions } from "../protocol/placement/operate-regions.ts";
import { answerHttp, type HttpAnswerer, isHttpRequest } from "./http-requests.ts";
import { noAppends } from "./not-served-here.ts";
import { regionHealth } from "./region-health.ts";
import type { RegionWorld } from "./region-world.ts";

export class ReadFunction {
  readonly #world: RegionWorld;
  #http: HttpAnswerer;
  #hedgesTold = 0;

  constructor(world: RegionWorld) {
    this.#world = world;
    this.#http = this.#newHttp();
  }

  /** One event of API Gateway. */
  async serve(event: unknown, context: Parameters<HttpAnswerer>[1]): Promise<unknown> {
    const { trace, ports } = this.#world;
    if (!isHttpRequest(event)) throw new Error("the read function takes events of a REST API, and no others");
    const startedMs = ports.clock.monotonicMs();
    try {
      return await this.#http(event, context);
    } finally {
      trace.took("duration", ports.clock.monotonicMs() - startedMs);
      this.#tellHedges();
      trace.flush();
    }
  }

  #newHttp(): HttpAnswerer {
    const { ports, appends, region, defaultConfig, trace } = this.#world;
    return answerHttp(
      createApi({
        append: noAppends(),
        read: new LogReads(ports, lambdaSettler(appends, region)),
        regions: new RegisteredRegions(ports),
        region,
        defaultConfig,
        health: () => regionHealth(this.#world),
        // A defect ends a function's memory; the next request meets a new one.
        onFault: (error, requestId) => {
          const fault = error instanceof Error ? error : new Error(String(error));
          trace.logger.error(`request ${requestId} met a defect`, fault);
          trace.count("defects");
          this.#http = this.#newHttp();
        },
      }),
    );
  }

  #tellHedges(): void {
    const { hedges } = this.#world.ports.reads.counters;
    this.#world.trace.count("hedges", hedges - this.#hedgesTold);
    this.#hedgesTold = hedges;
  }
}
