/**
 * Faults under the clients of AWS, as middleware: what S3, DynamoDB and Lambda may do and an emulator never
 * does. Each request draws, of what can happen to a request of its kind, whether it is refused, lost on the
 * way, or loses its reply after the effect. Counted by service, and beside them the races that really happen.
 */
import { Readable } from "node:stream";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { S3Client } from "@aws-sdk/client-s3";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { type Item, LaggingRows, type ReadAnswer } from "./lagging-rows.ts";

export type Fault =
  /** S3's 503: nothing happened, or all of it did and somebody in between gave up. */
  | "slow-down"
  | "slow-down-after"
  /** No answer, before the effect or after it. */
  | "lost-request"
  | "lost-reply"
  /** Refused because of too many. */
  | "throttle"
  /** S3's 409, or DynamoDB's ReplicatedWriteConflict: another write to the key or the item is under way. */
  | "conflict"
  /** The row that failed a condition is not shown. */
  | "no-row"
  /** A read that need not be consistent, answered by a replica that lags; counted if that made a difference. */
  | "stale"
  /** Not injected: a condition failed, as S3's 412 or in DynamoDB. Somebody else was first, or oneself. */
  | "condition-failed";

export type Service = "s3" | "dynamodb" | "lambda";
export type ServiceFault = `${Service} ${Fault}`;

/** Of reads that need not be consistent. */
const STALE_SHARE = 0.5;
/** How far a replica is behind at most. */
export const LAG_MS = 1_500;
/** Of failed conditions. */
const NO_ROW_SHARE = 0.3;

export class FaultLayer {
  readonly counts = new Map<ServiceFault, number>();
  readonly #random: SeededRandom;
  readonly #rows = new LaggingRows(LAG_MS);

  /** `share`: of requests that meet a fault. */
  constructor(
    seed: number,
    private readonly share: number,
  ) {
    this.#random = new SeededRandom(seed, "faults of aws");
  }

  underS3(client: S3Client): S3Client {
    const any = ["slow-down", "slow-down-after", "lost-request", "lost-reply"] as const;
    client.middlewareStack.add(
      (next, { commandName = "" }) =>
        async (args) => {
          const isConditional = commandName === "PutObjectCommand" && "IfNoneMatch" in args.input;
          const fault = this.#draw(isConditional ? [...any, "conflict", "conflict"] : any);
          if (fault === "conflict") throw this.#failure("s3 conflict", "ConditionalRequestConflict", 409);
          if (fault === "slow-down") throw this.#failure("s3 slow-down", "SlowDown", 503);
          if (fault === "lost-request") throw this.#silence("s3 lost-request");
          const answer = await this.#watched("s3", () => next(args));
          if (fault === undefined) return answer;
          letGoOf(answer.output as object);
          if (fault === "lost-reply") throw this.#silence("s3 lost-reply");
          throw this.#failure("s3 slow-down-after", "SlowDown", 503);
        },
      { step: "initialize", name: "faults" },
    );
    return client;
  }

  underDynamoDb(client: DynamoDBClient): DynamoDBClient {
    const any = ["throttle", "lost-request", "lost-reply"] as const;
    client.middlewareStack.add(
      (next, { commandName = "" }) =>
        async (args) => {
          const isWrite = commandName === "PutItemCommand" || commandName === "DeleteItemCommand";
          const fault = this.#draw(isWrite ? [...any, "conflict", "conflict"] : any);
          if (fault === "throttle")
            throw this.#failure("dynamodb throttle", "ProvisionedThroughputExceededException", 400);
          if (fault === "conflict")
            throw this.#failure("dynamodb conflict", "ReplicatedWriteConflictException", 400);
          if (fault === "lost-request") throw this.#silence("dynamodb lost-request");
          const answer = await this.#watched("dynamodb", () => next(args));
          const { TableName: table = "", Key, Item: item, ConsistentRead } = args.input as TableRequest;
          if (isWrite) this.#rows.changed(table, Key ?? item ?? {}, item);
          if (fault === "lost-reply") throw this.#silence("dynamodb lost-reply");
          if (ConsistentRead !== false || !this.#chance(STALE_SHARE)) return answer;
          const older = this.#rows.older(table, Key, answer.output as ReadAnswer);
          if (older === undefined) return answer;
          this.#count("dynamodb stale");
          return { ...answer, output: { ...answer.output, ...older } };
        },
      { step: "initialize", name: "faults" },
    );
    return client;
  }

  /** Of calls between functions, which pass through no client of the SDK here. */
  async call<T>(act: () => Promise<T>): Promise<T> {
    const fault = this.#draw(["throttle", "lost-request", "lost-reply"]);
    if (fault === "throttle") throw this.#failure("lambda throttle", "TooManyRequestsException", 429);
    if (fault === "lost-request") throw this.#silence("lambda lost-request");
    const answer = await act();
    if (fault === "lost-reply") throw this.#silence("lambda lost-reply");
    return answer;
  }

  /** Counts the conditions that failed, and hides some of the rows that failed them. */
  async #watched<T>(service: "s3" | "dynamodb", act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const name = error instanceof Error ? error.name : "";
      if (name === "PreconditionFailed" || name === "ConditionalCheckFailedException") {
        this.#count(`${service} condition-failed`);
      }
      if (error instanceof Error && "Item" in error && this.#chance(NO_ROW_SHARE)) {
        this.#count("dynamodb no-row");
        Reflect.deleteProperty(error, "Item");
      }
      throw error;
    }
  }

  #draw<const F extends Fault>(faults: readonly F[]): F | undefined {
    return this.#chance(this.share) ? faults[this.#random.integer(0, faults.length - 1)] : undefined;
  }

  #chance(share: number): boolean {
    return this.#random.integer(0, 999) < share * 1_000;
  }

  #failure(fault: ServiceFault, name: string, httpStatusCode: number): Error {
    this.#count(fault);
    return Object.assign(new Error(`injected ${fault}`), { name, $metadata: { httpStatusCode } });
  }

  #silence(fault: ServiceFault): Error {
    this.#count(fault);
    return Object.assign(new Error(`injected ${fault}`), { name: "TimeoutError", code: "ETIMEDOUT" });
  }

  #count(fault: ServiceFault): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
  }
}

/** As far as the stores' commands have it. */
interface TableRequest {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly ConsistentRead?: boolean;
}

/** A body that nobody reads keeps its connection from all others, and its end would be nobody's error. */
function letGoOf(output: object): void {
  if ("Body" in output && output.Body instanceof Readable) output.Body.destroy();
}
