/**
 * Metadata that is used only in the mode it was made for. Before the first call that
 * decides anything, the deployment's own item is read consistently; one that says otherwise refuses every
 * such call.
 *
 * The first writer of a new table puts the item. A reader that finds none goes on, and looks again next time:
 * nothing has been written yet.
 */
import { FencelineError } from "../../protocol/errors.ts";
import { type DeploymentItem, deploymentKey } from "../../protocol/items.ts";
import type { MetadataConsistency, MetadataStore, Versioned } from "../../protocol/ports.ts";
import type { Random } from "../../protocol/random.ts";
import { updateItem } from "../../protocol/update-item.ts";

export class CheckedDeployment implements MetadataStore {
  #isKnown = false;
  /** Checks under way: those who ask at the same time ask once. */
  readonly #checking = new Map<"read" | "write", Promise<void>>();

  constructor(
    private readonly metadata: MetadataStore,
    private readonly wanted: DeploymentItem,
    private readonly random: Random,
  ) {}

  readonly get: MetadataStore["get"] = (key, consistency) =>
    this.#beside(consistency, () => this.metadata.get(key, consistency));

  readonly query: MetadataStore["query"] = (query, consistency) =>
    this.#beside(consistency, () => this.metadata.query(query, consistency));

  readonly write: MetadataStore["write"] = async (key, expected, item, token) => {
    await this.#check("write");
    return await this.metadata.write(key, expected, item, token);
  };

  readonly remove: MetadataStore["remove"] = async (key, expected) => {
    await this.#check("write");
    return await this.metadata.remove(key, expected);
  };

  /** A read changes nothing, so the check may run at the same time; its answer is not given without it. */
  async #beside<T>(consistency: MetadataConsistency, read: () => Promise<T>): Promise<T> {
    if (consistency === "stale" || this.#isKnown) return await read();
    const [answer] = await Promise.all([read(), this.#check("read")]);
    return answer;
  }

  #check(before: "read" | "write"): Promise<void> {
    if (this.#isKnown) return Promise.resolve();
    const checking =
      this.#checking.get(before) ??
      this.#find(before)
        .then((found) => this.#judge(found))
        .finally(() => this.#checking.delete(before));
    this.#checking.set(before, checking);
    return checking;
  }

  async #find(before: "read" | "write"): Promise<Versioned | undefined> {
    const { metadata, random, wanted } = this;
    if (before === "read") return await metadata.get(deploymentKey, "consistent");
    const { stored } = await updateItem({ metadata, random }, deploymentKey, (current) =>
      current === undefined ? wanted : undefined,
    );
    return stored;
  }

  #judge(found: Versioned | undefined): void {
    if (found === undefined) return;
    const { item } = found;
    const { metadataMode, homeRegion } = this.wanted;
    this.#isKnown =
      item.kind === "deployment" && item.metadataMode === metadataMode && item.homeRegion === homeRegion;
    if (this.#isKnown) return;
    const mode = homeRegion === undefined ? metadataMode : `${metadataMode} with its home in ${homeRegion}`;
    throw new FencelineError("unavailable", {
      message:
        `the metadata table was made for ${JSON.stringify(item)}, this function is set to mode ${mode}: ` +
        "nothing is read or written; deploy with the table's own mode",
      retryable: false,
      sideEffects: "none",
    });
  }
}
