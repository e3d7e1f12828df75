/** SB1 to SB3: group commit over a LevelDB database whose flushes a test can hold up and fail. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LevelDatabase, openLevelDatabase } from "../../lib/adapters/level/level-database.ts";
import { type Decide, SyncedBatches } from "../../lib/adapters/level/synced-batches.ts";
import { ScratchDirectory } from "./scratch-directory.ts";

let scratch: ScratchDirectory;
let database: LevelDatabase;
let batches: SyncedBatches;
/** Sizes of the flushes so far. */
let flushes: number[];
/** What happens in a flush before it is made. */
let beforeFlush: () => Promise<void>;

beforeEach(async () => {
  scratch = await ScratchDirectory.make();
  database = await openLevelDatabase(scratch.path, "entry-store");
  batches = new SyncedBatches(database);
  flushes = [];
  beforeFlush = async () => undefined;
  const flush = database.batch.bind(database) as (...args: unknown[]) => Promise<void>;
  database.batch = (async (operations: unknown[], options: unknown) => {
    flushes.push(operations.length);
    await beforeFlush();
    await flush(operations, options);
  }) as LevelDatabase["batch"];
});
afterEach(async () => {
  await batches.close();
  await scratch.remove();
});

const one = Uint8Array.of(1);
const two = Uint8Array.of(2);

const put =
  (value: Uint8Array): Decide<string> =>
  () => ({ change: { kind: "put", value }, answer: "put" });
const putIfAbsent =
  (value: Uint8Array): Decide<string> =>
  (current) =>
    current === undefined
      ? { change: { kind: "put", value }, answer: "stored" }
      : { change: { kind: "keep" }, answer: `occupied by ${current.join()}` };
const remove: Decide<string> = () => ({ change: { kind: "delete" }, answer: "removed" });

describe("synced batches", () => {
  it("SB1: decisions made together see each other, in order, and are flushed as one", async () => {
    const answers = await Promise.all([
      batches.submit("a", putIfAbsent(one)),
      batches.submit("a", putIfAbsent(two)),
      batches.submit("a", remove),
      batches.submit("a", putIfAbsent(two)),
      batches.submit("b", put(one)),
    ]);
    expect(answers).toEqual(["stored", "occupied by 1", "removed", "stored", "put"]);
    expect(flushes).toEqual([2]);
    expect(await batches.get("a")).toEqual(two);
    expect(await batches.get("b")).toEqual(one);
  });

  it("SB1: nobody is answered before the flush, not even one who lost to what is in flight", async () => {
    let letGo = () => {};
    beforeFlush = () => new Promise((resolve) => (letGo = resolve));
    const answered: string[] = [];
    const submitted = ["first", "second"].map((name) =>
      batches.submit("a", putIfAbsent(one)).then((answer) => answered.push(`${name} ${answer}`)),
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(flushes).toEqual([1]);
    expect(answered).toEqual([]);
    expect(await batches.get("a")).toBeUndefined();
    letGo();
    await Promise.all(submitted);
    expect(answered).toEqual(["first stored", "second occupied by 1"]);
  });

  it("flushes many concurrent decisions in few batches", async () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `key${index}`);
    await Promise.all(keys.map((key) => batches.submit(key, put(one))));
    expect(flushes.reduce((sum, size) => sum + size, 0)).toBe(1_000);
    expect(flushes.length).toBeLessThanOrEqual(10);
  });

  it("cuts a batch when it is full of bytes, and still decides in order", async () => {
    const big = new Uint8Array(5 * 1024 * 1024).fill(7);
    const answers = await Promise.all([
      ...["a", "b", "c"].map((key) => batches.submit(key, put(big))),
      batches.submit("a", (current) => ({ change: { kind: "keep" }, answer: String(current?.length) })),
    ]);
    expect(answers).toEqual(["put", "put", "put", String(big.length)]);
    expect(flushes).toEqual([2, 1]);
  });

  it("needs no flush for what is there already", async () => {
    await batches.submit("a", put(one));
    expect(await batches.submit("a", put(one))).toBe("put");
    expect(await batches.submit("a", putIfAbsent(two))).toBe("occupied by 1");
    expect(flushes).toEqual([1]);
  });

  it("a decision that throws is its caller's alone", async () => {
    const [good, bad] = await Promise.allSettled([
      batches.submit("a", put(one)),
      batches.submit("b", () => {
        throw new TypeError("bad");
      }),
    ]);
    expect(good).toMatchObject({ status: "fulfilled" });
    expect(bad).toMatchObject({ status: "rejected", reason: new TypeError("bad") });
    expect(await batches.get("b")).toBeUndefined();
  });

  it("SB3: a failed flush rejects all of it as unknown; later writes fail clearly, reads go on", async () => {
    await batches.submit("kept", put(one));
    beforeFlush = () => Promise.reject(new Error("disk full"));
    const failed = await Promise.allSettled([
      batches.submit("a", put(one)),
      batches.submit("a", putIfAbsent(two)),
      batches.submit("b", put(one)),
    ]);
    for (const outcome of failed) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: {
          code: "unavailable",
          sideEffects: "possible",
          message: expect.stringContaining("disk full"),
        },
      });
    }
    beforeFlush = async () => undefined;
    await expect(batches.submit("c", put(one))).rejects.toMatchObject({
      code: "unavailable",
      sideEffects: "none",
      message: expect.stringMatching(/takes no more writes since one failed.*disk full/),
    });
    expect(await batches.get("kept")).toEqual(one);
    expect(flushes).toEqual([1, 2]);
  });

  it("opened again after a failed flush, all of it is there or none, and writing goes on", async () => {
    beforeFlush = () => Promise.reject(new Error("disk full"));
    await Promise.allSettled(["a", "b"].map((key) => batches.submit(key, put(one))));
    await batches.close();
    await using again = await reopened();
    const found = await Promise.all(["a", "b"].map((key) => again.batches.get(key)));
    expect(found[0]).toEqual(found[1]);
    expect(await again.batches.submit("c", putIfAbsent(one))).toBe("stored");
  });

  it("a value damaged on the disk is refused, for reading and deciding, and others are not", async () => {
    await batches.submit("a", put(one));
    const stored = (await database.get("a")) ?? new Uint8Array(0);
    for (let index = 0; index < stored.length; index++) {
      const damaged = stored.slice();
      damaged[index] = (damaged[index] ?? 0) ^ 4;
      await database.put("a", damaged);
      await expect(batches.get("a")).rejects.toMatchObject({ code: "data_corrupt" });
      const [bad, good] = await Promise.allSettled([
        batches.submit("a", putIfAbsent(two)),
        batches.submit(`b${index}`, putIfAbsent(two)),
      ]);
      expect(bad).toMatchObject({
        status: "rejected",
        reason: { code: "data_corrupt", sideEffects: "none" },
      });
      expect(good).toEqual({ status: "fulfilled", value: "stored" });
    }
    await database.put("moved", stored);
    await expect(batches.get("moved")).rejects.toMatchObject({ code: "data_corrupt" });
  });

  it("closing answers what was submitted, and refuses what comes later", async () => {
    const submitted = batches.submit("a", put(one));
    const closing = batches.close();
    expect(await submitted).toBe("put");
    await closing;
    const refused = {
      code: "unavailable",
      sideEffects: "none",
      message: expect.stringContaining(scratch.path),
    };
    await expect(batches.submit("a", put(two))).rejects.toMatchObject(refused);
    await expect(batches.get("a")).rejects.toMatchObject(refused);
    await using again = await reopened();
    expect(await again.batches.get("a")).toEqual(one);
  });
});

async function reopened() {
  const again = new SyncedBatches(await openLevelDatabase(scratch.path, "entry-store"));
  return { batches: again, [Symbol.asyncDispose]: () => again.close() };
}
