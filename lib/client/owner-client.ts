/**
 * Appends that go to the owner of the log themselves, as far as its URL is known: the answers of any region
 * name the owner, and from then on no append is forwarded. An owner that has changed refuses and names the
 * next one; one that is not reached is forgotten, and the home region finds out.
 */
import type { AppendAckJson, AppendJson } from "../api/append-wire.ts";
import { hasProblemCode, RequestError } from "./client-errors.ts";
import type { WireFormat } from "./http-words.ts";
import type { LogClient } from "./log-client.ts";

/** The owner may change while it is asked for; after so many refusals the home region forwards. */
const REFUSALS_MAX = 3;

export class OwnerClient {
  /** Log -> region. */
  readonly #owners = new Map<string, string>();

  constructor(
    private readonly home: LogClient,
    /** Region -> its endpoint. */
    private readonly regions: ReadonlyMap<string, LogClient>,
  ) {}

  /** The region that the next append to the log goes to; undefined: the home region, which forwards. */
  ownerOf(log: string): string | undefined {
    const owner = this.#owners.get(log);
    return owner !== undefined && this.regions.has(owner) ? owner : undefined;
  }

  /** One attempt, as `LogClient.append`. */
  async append(log: string, batch: AppendJson, format: WireFormat): Promise<AppendAckJson> {
    for (let refusals = 0; refusals < REFUSALS_MAX; refusals++) {
      const owner = this.ownerOf(log);
      const client = owner === undefined ? undefined : this.regions.get(owner);
      if (client === undefined) break;
      try {
        return this.#learn(log, await client.appendAt(log, batch, format, { prefer: "no-forward" }));
      } catch (error) {
        this.#owners.delete(log);
        if (hasProblemCode(error, "not_owner")) this.#note(log, error.problem.owner);
        else if (!(error instanceof RequestError) || error.sideEffects !== "none") throw error;
        else break;
      }
    }
    return this.#learn(log, await this.home.appendAt(log, batch, format, {}));
  }

  #learn(log: string, { ack, owner }: { ack: AppendAckJson; owner: string | undefined }): AppendAckJson {
    this.#note(log, owner);
    return ack;
  }

  #note(log: string, owner: unknown): void {
    if (typeof owner === "string") this.#owners.set(log, owner);
  }
}
