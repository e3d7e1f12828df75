/** Names, creation races and the directory. */
import { describe, expect, test } from "vitest";
import { FencelineError } from "../../../../lib/protocol/errors.ts";
import { logName, region } from "../../../../lib/protocol/ids.ts";
import { directoryKey, logKey, logNameKey } from "../../../../lib/protocol/items.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import { LogAppends } from "../../../../lib/protocol/log/log-appends.ts";
import { LOG, type LogClient, LogWorld } from "../../../scenarios/log/log-world.ts";

const NEW = logName("new/log");

const created = (outcome: Promise<{ readonly created: boolean }>): Promise<string> =>
  outcome.then(
    (creation) => (creation.created ? "created" : "found"),
    (error) =>
      error instanceof FencelineError ? `${error.code}, side effects ${error.sideEffects}` : String(error),
  );

async function logItems(w: LogWorld, name = NEW): Promise<number> {
  const writes = w.faults.log.filter((call) => call.port === "metadata" && call.about.startsWith("log#"));
  const partitions = [...new Set(writes.map((call) => call.about))];
  const items = await Promise.all(
    partitions.map((partition) => w.world.metadata.get({ partition, sort: "log" }, "consistent")),
  );
  return items.filter((stored) => stored?.item.kind === "log" && stored.item.name === name).length;
}

test("a log is created once; the same configuration finds it, another one is refused", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  expect(await w.run(created(p.appends.createLog(NEW, w.config)))).toBe("created");
  expect(await w.run(created(w.client("Q", "west").appends.createLog(NEW, w.config)))).toBe("found");
  const { replication, segmentBytesMax } = w.config;
  const others = [
    [{ segmentBytesMax: 7 }, "segment_bytes_max", segmentBytesMax, 7],
    [{ segmentAgeMaxMs: 5_000 }, "segment_age_max_ms", limits.segmentAgeMaxMsDefault, 5_000],
    [{ digest: "hmac-sha256" as const }, "digest", "crc32", "hmac-sha256"],
    [{ replication: { ...replication, ackQuorum: 3 } }, "replication.ack_quorum", 2, 3],
  ] as const;
  for (const [other, field, existing, given] of others) {
    await expect(w.run(p.appends.createLog(NEW, { ...w.config, ...other }))).rejects.toMatchObject({
      code: "log_exists",
      sideEffects: "none",
      message: expect.stringContaining(`${field} is ${existing}, not ${given}; give what it has`),
      details: { differences: [{ field, existing, given }] },
    });
  }
  // What the default says of an age is no other configuration.
  const stated = { ...w.config, segmentAgeMaxMs: limits.segmentAgeMaxMsDefault };
  expect(await w.run(created(p.appends.createLog(NEW, stated)))).toBe("found");
  const both = p.appends.createLog(NEW, { ...w.config, segmentBytesMax: 7 }, region("east"));
  await expect(w.run(both)).rejects.toMatchObject({
    details: {
      differences: [
        { field: "segment_bytes_max", existing: segmentBytesMax, given: 7 },
        { field: "preferred_region", existing: null, given: "east" },
      ],
    },
  });
  const description = await w.run(p.reads.describeLog(NEW));
  expect(description).toMatchObject({ name: NEW, config: w.config, state: "active", trimPoint: 0 });
});

test("a log with an end is described as sealed; who creates it again does not look for that", async () => {
  const w = await LogWorld.make();
  const { appends, reads } = w.client("P");
  await w.run(appends.createLog(NEW, w.config));
  expect(await w.run(reads.describeLog(NEW))).toMatchObject({ state: "active" });
  await w.run(appends.seal(NEW));
  expect(await w.run(reads.describeLog(NEW))).toMatchObject({ state: "sealed" });
  expect((await w.run(appends.createLog(NEW, w.config))).description).toMatchObject({ state: "active" });
});

test("quorum sizes out of order and impossible segment sizes are refused", async () => {
  const w = await LogWorld.make();
  const { replication } = w.config;
  const bad = [
    { ...replication, ackQuorum: 4 },
    { ...replication, writeQuorum: 4 },
    { ...replication, minRegions: 3 },
    { ...replication, minRegions: 0 },
    { ...replication, ensembleSize: 3.5 },
  ].map((sizes) => ({ ...w.config, replication: sizes }));
  for (const config of [...bad, { ...w.config, segmentBytesMax: 0 }]) {
    const outcome = created(w.client("P").appends.createLog(NEW, config));
    expect(await w.run(outcome)).toBe("invalid_request, side effects none");
  }
});

describe("admission", () => {
  const shipped = (w: LogWorld, client: string) => new LogAppends(w.client(client).ports);
  // Four bookies in three regions: 3/3/2 m2 lets both acks lie in one region when only two are left.
  const legal = { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 };

  test("refuses sizes that do not keep their promise, with the smallest ack quorum; nothing is left over", async () => {
    const w = await LogWorld.make();
    const refusal = shipped(w, "P").createLog(NEW, w.config);
    await expect(w.run(refusal)).rejects.toMatchObject({
      code: "invalid_request",
      sideEffects: "none",
      message: expect.stringMatching(/ackQuorum is 2; .* it must be 3.* Nothing was created$/),
      details: { change: ["ackQuorum"], smallest_ack_quorum: 3 },
    });
    expect(await w.world.metadata.get(logNameKey(NEW), "consistent")).toBeUndefined();
    expect(await logItems(w)).toBe(0);
  });

  test("refuses more than the topology can hold, and says that it may know of additions late", async () => {
    const w = await LogWorld.make();
    const six = { ...w.config, replication: { ...legal, ensembleSize: 6, writeQuorum: 6, ackQuorum: 4 } };
    await expect(w.run(shipped(w, "P").createLog(NEW, six))).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/has 4 bookies for an ensemble of 6.*less than 10 s ago/),
    });
  });

  test("warns of survivors that could not host the log; a log that exists is found whatever is left", async () => {
    const w = await LogWorld.make();
    const config = { ...w.config, replication: legal };
    const warnings = [expect.stringContaining("3 of 3 smallest sets of surviving regions cannot host")];
    const first = await w.run(shipped(w, "P").createLog(NEW, config));
    expect(first).toMatchObject({ created: true, warnings });
    const second = await w.run(shipped(w, "Q").createLog(NEW, config));
    expect(second).toMatchObject({ created: false, warnings });
    w.world.addresses.splice(1);
    const third = await w.run(shipped(w, "S").createLog(NEW, config));
    expect(third).toMatchObject({ created: false, warnings: [expect.stringContaining("minRegions 2")] });
  });
});

test("two create one name at once: one creates it, the other finds it, nothing is left over", async () => {
  const w = await LogWorld.make();
  const name = logNameKey(NEW).partition;
  const held = ["P", "Q"].map((client) => w.faults.hold({ client, call: "write", about: name }));
  const creations = [w.client("P"), w.client("Q", "west")].map((one) =>
    created(one.appends.createLog(NEW, w.config)),
  );
  await w.idle();
  expect(await logItems(w)).toBe(2);
  for (const one of held) one.release();
  expect((await w.run(Promise.all(creations))).sort()).toEqual(["created", "found"]);
  expect(await logItems(w)).toBe(1);
});

test("a creator that dies before the directory: the next one repairs the listing", async () => {
  const w = await LogWorld.make();
  w.faults.fail({ client: "P", call: "write", about: directoryKey(NEW).partition });
  expect(await w.run(created(w.client("P").appends.createLog(NEW, w.config)))).toMatch(
    /side effects possible/,
  );
  const q = w.client("Q", "west");
  expect((await listed(w, q)).logs).toEqual([LOG]);
  expect(await w.run(created(q.appends.createLog(NEW, w.config)))).toBe("found");
  expect((await listed(w, q)).logs).toEqual([NEW, LOG]);
});

test("a name that names a log without an item is taken over by the next creation", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await w.run(p.appends.createLog(NEW, w.config));
  const { incarnation: log } = await w.run(p.reads.describeLog(NEW));
  await w.removeItem(logKey(log));
  expect(await w.run(created(w.client("Q").appends.createLog(NEW, w.config)))).toBe("created");
  const now = await w.run(p.reads.describeLog(NEW));
  expect(now.incarnation).not.toBe(log);
});

describe.each(["before", "after"] as const)("a call of a creation fails %s its effect", (moment) => {
  test("whichever call it is: the log exists if that was said, and a second try ends well", async () => {
    for (let failing = 0; failing < 12; failing++) {
      const w = await LogWorld.make();
      let count = 0;
      w.faults.at({ client: "P" }, moment, Number.POSITIVE_INFINITY, () => {
        if (count++ === failing) throw new Error("lost");
      });
      const first = await w.run(created(w.client("P").appends.createLog(NEW, w.config)));
      const q = w.client("Q", "west");
      const second = await w.run(created(q.appends.createLog(NEW, w.config)));
      if (first === "created") expect(second).toBe("found");
      else expect(first).not.toBe("found");
      expect(["created", "found"]).toContain(second);
      expect((await listed(w, q)).logs).toEqual([NEW, LOG]);
    }
  });
});

async function listed(
  w: LogWorld,
  client: LogClient,
  request: { prefix?: string; startAfter?: string; limit?: number } = {},
) {
  const { prefix = "", startAfter, limit = 100 } = request;
  const after = startAfter === undefined ? {} : { startAfter: logName(startAfter) };
  return await w.run(client.reads.listLogs({ prefix, limit, ...after }));
}

test("logs are listed in order, page by page, by prefix and behind a name", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  const names = [
    "a",
    "a/b",
    "a/c",
    "ab",
    "b",
    "ä",
    "😀",
    "\uffff",
    ...Array.from({ length: 40 }, (_, n) => `x${n}`),
  ];
  for (const name of names) await w.run(p.appends.createLog(logName(name), w.config));
  const sorted = [...names, LOG as string].sort((one, other) => (one < other ? -1 : 1));
  expect((await listed(w, p)).logs).toEqual(sorted);
  const pages: string[] = [];
  for (let hasMore = true, startAfter: string | undefined; hasMore; ) {
    const page = await listed(w, p, { limit: 7, ...(startAfter === undefined ? {} : { startAfter }) });
    pages.push(...page.logs);
    startAfter = page.logs.at(-1);
    hasMore = page.hasMore;
  }
  expect(pages).toEqual(sorted);
  expect((await listed(w, p, { prefix: "a" })).logs).toEqual(["a", "a/b", "a/c", "ab"]);
  expect(await listed(w, p, { prefix: "a/", startAfter: "a/b" })).toEqual({ logs: ["a/c"], hasMore: false });
  expect((await listed(w, p, { prefix: "x", startAfter: "a" })).logs).toHaveLength(40);
  expect(await listed(w, p, { prefix: "b", startAfter: "b" })).toEqual({ logs: [], hasMore: false });
  expect((await listed(w, p, { prefix: "a", limit: 4 })).hasMore).toBe(false);
  await expect(listed(w, p, { limit: 1_001 })).rejects.toMatchObject({ code: "invalid_request" });
});
