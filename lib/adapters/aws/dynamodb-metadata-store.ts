/**
 * The global metadata table as one region's functions use it, in one of its two modes.
 *
 * DM1 `strong`: every replica gives consistent reads and takes conditional writes. The nearest one is asked;
 *     one that does not answer makes way for the next, and is asked last for a while.
 * DM2 `home`: the home takes every conditional write and every consistent read, and nobody stands in for it:
 *     a condition is checked against the replica that is asked, and another one would let two writers win.
 *     Stale reads are DM1's.
 * DM3 A write that may have taken effect is not sent to another replica: it rejects, and its caller reads
 *     before writing again (UPD2).
 */
import { AssertionError, present } from "../../protocol/assert.ts";
import { Age, type Clock } from "../../protocol/deadline.ts";
import { FencelineError, hasCode, sideEffectsOf } from "../../protocol/errors.ts";
import type { Region, WriteToken } from "../../protocol/ids.ts";
import type { Item, ItemKey, Version } from "../../protocol/items.ts";
import { limits } from "../../protocol/limits.ts";
import type {
  ItemQuery,
  MetadataConsistency,
  MetadataStore,
  Versioned,
  WriteAnswer,
} from "../../protocol/ports.ts";

interface MetadataReplica {
  readonly region: Region;
  readonly store: MetadataStore;
}

interface DynamoDbMetadataFields {
  /** Nearest first. In mode `home` the home is one of them. */
  readonly replicas: readonly MetadataReplica[];
  readonly mode: { readonly kind: "strong" } | { readonly kind: "home"; readonly home: Region };
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

export class DynamoDbMetadataStore implements MetadataStore {
  readonly #all: readonly MetadataReplica[];
  /** The replicas that take conditional writes and consistent reads. */
  readonly #deciding: readonly MetadataReplica[];
  readonly #clock: DynamoDbMetadataFields["clock"];
  readonly #failed = new Map<Region, Age>();

  constructor({ replicas, mode, clock }: DynamoDbMetadataFields) {
    this.#all = replicas;
    this.#clock = clock;
    this.#deciding =
      mode.kind === "strong"
        ? replicas
        : [
            present(
              replicas.find(({ region }) => region === mode.home),
              `DM2: a replica in the home ${mode.home}`,
            ),
          ];
  }

  get(key: ItemKey, consistency: MetadataConsistency): Promise<Versioned | undefined> {
    return this.#ask(this.#readers(consistency), always, (store) => store.get(key, consistency));
  }

  query(query: ItemQuery, consistency: MetadataConsistency): Promise<readonly Versioned[]> {
    return this.#ask(this.#readers(consistency), always, (store) => store.query(query, consistency));
  }

  write(key: ItemKey, expected: Version | "absent", item: Item, token: WriteToken): Promise<WriteAnswer> {
    return this.#ask(this.#deciding, ifWithoutEffect, (store) => store.write(key, expected, item, token));
  }

  remove(key: ItemKey, expected: Version): Promise<{ readonly kind: "removed" | "conflict" }> {
    return this.#ask(this.#deciding, ifWithoutEffect, (store) => store.remove(key, expected));
  }

  #readers(consistency: MetadataConsistency): readonly MetadataReplica[] {
    return consistency === "stale" ? this.#all : this.#deciding;
  }

  /** Asks one replica after another while `mayMoveOn` says so of the failure. */
  async #ask<T>(
    replicas: readonly MetadataReplica[],
    mayMoveOn: (error: unknown) => boolean,
    call: (store: MetadataStore) => Promise<T>,
  ): Promise<T> {
    const failures: unknown[] = [];
    for (const { region, store } of this.#inTurn(replicas)) {
      try {
        const answer = await call(store);
        this.#failed.delete(region);
        return answer;
      } catch (error) {
        // Damaged data is an answer, and another replica holds the same.
        if (error instanceof AssertionError || hasCode(error, "data_corrupt")) throw error;
        this.#failed.set(region, new Age(this.#clock));
        failures.push(error);
        if (!mayMoveOn(error)) break;
      }
    }
    throw combined(failures);
  }

  /** Suspects last; otherwise as given. */
  #inTurn(replicas: readonly MetadataReplica[]): readonly MetadataReplica[] {
    const isSuspect = ({ region }: MetadataReplica) =>
      this.#failed.get(region)?.isWithin(limits.suspectMs) === true;
    return [...replicas.filter((one) => !isSuspect(one)), ...replicas.filter(isSuspect)];
  }
}

const always = () => true;
/** DM3 */
const ifWithoutEffect = (error: unknown) => sideEffectsOf(error) === "none";

function combined(failures: readonly unknown[]): unknown {
  if (failures.length === 1) return failures[0];
  const words = failures.map((error) => (error instanceof Error ? error.message : String(error)));
  const isPossible = failures.some((error) => sideEffectsOf(error) === "possible");
  return new FencelineError("unavailable", {
    message: words.join("; "),
    sideEffects: isPossible ? "possible" : "none",
    cause: failures.at(-1),
  });
}
