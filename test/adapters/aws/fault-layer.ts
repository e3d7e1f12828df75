/**
 * Faults under the clients of AWS, as middleware: what S3 and DynamoDB may do and an emulator never does.
 * Each request draws whether it is refused, lost on the way, or loses its reply after the effect.
 */
import { Readable } from "node:stream";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { S3Client } from "@aws-sdk/client-s3";
import { SeededRandom } from "../../sim/seeded-random.ts";

export type Fault =
  /** 503: nothing happened, or all of it did and somebody in between gave up. */
  | "slow-down"
  | "slow-down-after"
  /** No answer, before the effect or after it. */
  | "lost-request"
  | "lost-reply"
  /** Refused because of too many. */
  | "throttle"
  /** Refused because another request for the key, or another region's write to the item, is under way. */
  | "conflict"
  /** The row that failed a condition is not shown. */
  | "no-row"
  /** A read that need not be consistent gives what it gave before. */
  | "stale";

export class FaultLayer {
  readonly injected = new Map<Fault, number>();
  readonly #random: SeededRandom;
  readonly #earlier = new Map<string, unknown>();

  /** `share`: of requests that meet a fault. */
  constructor(
    seed: number,
    private readonly share: number,
  ) {
    this.#random = new SeededRandom(seed, "faults of aws");
  }

  underS3(client: S3Client): S3Client {
    const faults = ["slow-down", "slow-down-after", "lost-request", "lost-reply", "conflict"] as const;
    client.middlewareStack.add(
      (next, { commandName = "" }) =>
        async (args) => {
          const fault = this.#draw(faults);
          const isConditional = commandName === "PutObjectCommand" && "IfNoneMatch" in args.input;
          if (fault === "conflict" && isConditional)
            throw this.#failure(fault, "ConditionalRequestConflict", 409);
          if (fault === "slow-down") throw this.#failure(fault, "SlowDown", 503);
          if (fault === "lost-request") throw this.#silence(fault);
          const answer = await next(args);
          if (fault !== "slow-down-after" && fault !== "lost-reply") return answer;
          letGoOf(answer.output);
          throw fault === "lost-reply" ? this.#silence(fault) : this.#failure(fault, "SlowDown", 503);
        },
      { step: "initialize", name: "faults" },
    );
    return client;
  }

  underDynamoDb(client: DynamoDBClient): DynamoDBClient {
    const faults = ["throttle", "lost-request", "lost-reply", "conflict", "no-row", "stale"] as const;
    client.middlewareStack.add(
      (next, { commandName = "" }) =>
        async (args) => {
          const fault = this.#draw(faults);
          const isWrite = commandName === "PutItemCommand" || commandName === "DeleteItemCommand";
          if (fault === "throttle") throw this.#failure(fault, "ProvisionedThroughputExceededException", 400);
          if (fault === "conflict" && isWrite)
            throw this.#failure(fault, "ReplicatedWriteConflictException", 400);
          if (fault === "lost-request") throw this.#silence(fault);
          const key = `${commandName} ${JSON.stringify(args.input)}`;
          const isStale = !isWrite && "ConsistentRead" in args.input && args.input.ConsistentRead === false;
          const earlier = this.#earlier.get(key);
          if (fault === "stale" && isStale && earlier !== undefined) {
            this.#count(fault);
            return earlier as Awaited<ReturnType<typeof next>>;
          }
          try {
            const answer = await next(args);
            if (isStale) this.#earlier.set(key, answer);
            if (fault === "lost-reply") throw this.#silence(fault);
            return answer;
          } catch (error) {
            if (fault === "no-row" && error instanceof Error && "Item" in error) {
              this.#count(fault);
              Reflect.deleteProperty(error, "Item");
            }
            throw error;
          }
        },
      { step: "initialize", name: "faults" },
    );
    return client;
  }

  /** Of calls between functions, which pass through no client of the SDK here. */
  async call<T>(act: () => Promise<T>): Promise<T> {
    const fault = this.#draw(["throttle", "lost-request", "lost-reply"]);
    if (fault === "throttle") throw this.#failure(fault, "TooManyRequestsException", 429);
    if (fault === "lost-request") throw this.#silence(fault);
    const answer = await act();
    if (fault === "lost-reply") throw this.#silence(fault);
    return answer;
  }

  #draw<const F extends Fault>(faults: readonly F[]): F | undefined {
    if (this.#random.integer(0, 999) >= this.share * 1_000) return undefined;
    return faults[this.#random.integer(0, faults.length - 1)];
  }

  #failure(fault: Fault, name: string, httpStatusCode: number): Error {
    this.#count(fault);
    return Object.assign(new Error(`injected ${fault}`), { name, $metadata: { httpStatusCode } });
  }

  #silence(fault: Fault): Error {
    this.#count(fault);
    return Object.assign(new Error(`injected ${fault}`), { name: "TimeoutError", code: "ETIMEDOUT" });
  }

  #count(fault: Fault): void {
    this.injected.set(fault, (this.injected.get(fault) ?? 0) + 1);
  }
}

/** A body that nobody reads keeps its connection from all others, and its end would be nobody's error. */
function letGoOf(output: object): void {
  if ("Body" in output && output.Body instanceof Readable) output.Body.destroy();
}
