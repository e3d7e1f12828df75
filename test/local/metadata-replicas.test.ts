/** The metadata table as the regions' functions see it: what a majority of replicas decides. */
import { describe, expect, test } from "vitest";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { equallyFar } from "../../lib/local/distances.ts";
import { hasMajority, metadataReplicas } from "../../lib/local/metadata-replicas.ts";
import { RegionSwitch } from "../../lib/local/region-switch.ts";
import { logName, region, writeToken } from "../../lib/protocol/ids.ts";
import { directoryKey } from "../../lib/protocol/items.ts";
import { TestClock } from "../scenarios/test-clock.ts";

const key = directoryKey(logName("a"));
const item = { kind: "directory", name: logName("a") } as const;

function table(names: readonly string[], asking: string) {
  const replicas = names.map((name) => new RegionSwitch(region(name)));
  const clock = new TestClock();
  const store = new MemoryMetadataStore();
  const view = metadataReplicas({ store, replicas, region: region(asking), clock, distances: equallyFar(0) });
  const down = (name: string, manner: "refusing" | "hanging" = "refusing") =>
    replicas.find((one) => one.region === name)?.down(manner);
  const write = () => view.write(key, "absent", item, writeToken("t"));
  return { replicas, clock, store, view, down, write };
}

describe("three replicas", () => {
  test("one lost: reads and writes go on, from its own region's view by the next replica", async () => {
    const { view, down, write } = table(["a", "b", "c"], "a");
    down("a");
    expect(await write()).toMatchObject({ kind: "written" });
    expect((await view.get(key, "consistent"))?.item).toEqual(item);
  });

  test("two lost: nothing is written, and the error names who is there and who is not", async () => {
    const { view, store, down, write } = table(["a", "b", "c"], "a");
    down("b");
    down("c");
    await expect(write()).rejects.toMatchObject({
      code: "insufficient_regions",
      sideEffects: "none",
      details: { answered_regions: ["a"], silent_regions: ["b", "c"], counted: "metadata_replicas" },
    });
    expect(await store.get(key, "consistent")).toBeUndefined();
    await expect(view.get(key, "consistent")).rejects.toMatchObject({ code: "insufficient_regions" });
    await expect(
      view.query({ partition: key.partition, order: "ascending", limit: 1 }, "consistent"),
    ).rejects.toThrow();
  });

  test("two lost: a stale read needs only the replica that it asks; all lost: nothing answers", async () => {
    const { view, down, write } = table(["a", "b", "c"], "a");
    await write();
    down("b");
    down("c");
    expect((await view.get(key, "stale"))?.item).toEqual(item);
    down("a");
    await expect(view.get(key, "stale")).rejects.toMatchObject({ code: "insufficient_regions" });
  });

  test("a majority that hangs is waited for, and given up in bounded time", async () => {
    const { clock, down, write } = table(["a", "b", "c"], "a");
    down("b", "hanging");
    down("c", "hanging");
    const writing = write();
    const failed = expect(writing).rejects.toMatchObject({ details: { answered_regions: ["a"] } });
    await clock.idle();
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(2_000);
    await failed;
  });

  test("a region without a replica asks one that is up", async () => {
    const { down, write } = table(["a", "b", "c"], "d");
    down("a");
    expect(await write()).toMatchObject({ kind: "written" });
  });
});

test("two replicas have a witness, so that one of them may be lost; one alone has none", () => {
  const of = (names: readonly string[], lost: readonly string[]) => {
    const { replicas, down } = table(names, "a");
    for (const name of lost) down(name);
    return hasMajority(replicas);
  };
  expect([of(["a", "b"], []), of(["a", "b"], ["a"]), of(["a", "b"], ["a", "b"])]).toEqual([
    true,
    true,
    false,
  ]);
  expect([of(["a"], []), of(["a"], ["a"])]).toEqual([true, false]);
});
