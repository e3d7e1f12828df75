/** Stories of repetitions that come to a sealed log: what is in it is answered, nothing comes in any more. */

import { describe, expect, test } from "vitest";
import { keySender } from "../../../lib/api/append-sender.ts";
import { type FencelineError, unavailable } from "../../../lib/protocol/errors.ts";
import type { AppendAck, AppendRequest } from "../../../lib/protocol/log/operations.ts";
import { appendLimits } from "../../../lib/protocol/log/records/append-limits.ts";
import { LOG, LogWorld, recordOf } from "./log-world.ts";

const request = (texts: readonly string[], more: Partial<AppendRequest>): AppendRequest => ({
  log: LOG,
  records: texts.map(recordOf),
  ...more,
});
const producer = (seq: number, epoch = 0, id = "p") => ({ sender: { id, epoch, seq } });
const key = { sender: keySender("k") };

const refused = (append: Promise<AppendAck>): Promise<FencelineError> =>
  append.then(
    ({ start }) => Promise.reject(new Error(`acknowledged at ${start.seqNum}`)),
    (error) => error,
  );

/** A log with a batch of producer "p" and one of key "k", each appended without its answer being seen. */
async function written() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const [p, q, r] = [w.client("P", "east"), w.client("Q", "west"), w.client("R", "north")];
  await p.append("x");
  await w.run(p.appends.append(request(["a", "b"], producer(0))));
  await w.run(p.appends.append(request(["c"], key)));
  return { w, p, q, r };
}

const sealedBy: readonly (readonly [
  string,
  (story: Awaited<ReturnType<typeof written>>) => Promise<unknown>,
])[] = [
  ["its owner", ({ w, p }) => w.run(p.appends.seal(LOG))],
  ["another region", ({ w, q }) => w.run(q.appends.seal(LOG))],
  [
    "another region after a takeover",
    async ({ w, q }) => {
      w.faults.hold({ target: "east", port: "region" });
      await w.run(q.appends.append(request(["later"], { sender: keySender("west") })));
      await w.run(q.appends.seal(LOG));
    },
  ],
];

describe.each(sealedBy)("a log that was sealed by %s", (_, seal) => {
  test.each(["P", "Q", "R", "new"])(
    "tells %s where a repeated batch is, and takes no new one",
    async (who) => {
      const story = await written();
      await seal(story);
      const { w, p, q, r } = story;
      const client = { P: p, Q: q, R: r }[who] ?? w.client("new", "north");
      const chain = await w.chain();
      const again = await w.run(client.appends.append(request(["a", "b"], producer(0))));
      expect(again).toMatchObject({ start: { seqNum: 1 }, last: { seqNum: 2 }, duplicate: true, epoch: 1 });
      expect(again.durableIn).toBeUndefined();
      const keyed = await w.run(client.appends.append(request(["c"], key)));
      expect(keyed).toMatchObject({ start: { seqNum: 3 }, duplicate: true });
      const next = await w.run(refused(client.appends.append(request(["d"], producer(2)))));
      expect(next).toMatchObject({ code: "log_sealed", sideEffects: "none", retryable: false });
      expect(next.details).toMatchObject({
        earlier_attempts: "not_recorded",
        earlier_attempts_detail: "this batch is not in it",
      });
      expect(next.message).toMatch(/was sealed at \d; nothing can be appended to it any more$/);
      expect(await w.chain()).toEqual(chain);
    },
  );
});

describe("a sealed log", () => {
  async function sealed() {
    const story = await written();
    await story.w.run(story.p.appends.seal(LOG));
    const told = (...given: Parameters<typeof request>) =>
      story.w.run(refused(story.q.appends.append(request(...given))));
    return { ...story, told };
  }

  test("answers a batch whose outcome was unknown when it was sealed, or says that it is not there", async () => {
    for (const moment of ["before", "after"] as const) {
      const w = await LogWorld.make({ leases: true, forwarding: true });
      const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
      await p.append("x");
      w.faults.hold({ client: "P", port: "bookie", call: "add" }, moment);
      const lost = p.appends.append(request(["a"], producer(0))).catch(() => undefined);
      await w.idle();
      await w.run(q.appends.seal(LOG));
      const again = q.appends.append(request(["a"], producer(0)));
      if (moment === "after")
        expect(await w.run(again)).toMatchObject({ start: { seqNum: 1 }, duplicate: true });
      else expect((await w.run(refused(again))).details).toMatchObject({ tail: 1 });
      expect(await q.read(0)).toEqual(moment === "after" ? ["x", "a"] : ["x"]);
      await w.run(lost);
    }
  });

  test("APR2: settles the doubt of a forwarded append whose batch it rules out, and no other", async () => {
    for (const [moment, seq, expected] of [
      ["before", 2, { code: "log_sealed", sideEffects: "none" }],
      ["after", 2, { start: { seqNum: 4 }, duplicate: true }],
      ["before", 0, { code: "unknown_outcome", sideEffects: "possible" }],
    ] as const) {
      const { w, q, r } = await written();
      w.faults.at({ client: "Q", port: "region", call: "append" }, moment, 1, async () => {
        await r.appends.seal(LOG);
        throw unavailable("no answer");
      });
      const who = seq === 0 ? producer(0, 0, "stranger") : producer(seq);
      const told = await w.run(q.appends.append(request(["d"], who)).catch((error) => error));
      expect(told).toMatchObject(expected);
    }
  });

  test("says of strangers that it remembers nothing, and of former epochs that they are over", async () => {
    const { told, w, p } = await sealed();
    for (const who of [
      producer(0, 0, "stranger"),
      producer(7, 0, "stranger"),
      { sender: keySender("stranger") },
    ]) {
      const error = await told(["s"], who);
      expect(error).toMatchObject({ code: "log_sealed", sideEffects: "none" });
      expect(error.details).toMatchObject({ earlier_attempts: "not_remembered", tail: 4 });
      expect(error.message).toMatch(/sealed at 4; nothing can be appended to it any more$/);
      expect(error.details.earlier_attempts_detail).toMatch(
        /stranger nothing is remembered.*last 5 minutes.*read the log to find out/,
      );
    }
    expect((await told(["n"], producer(0, 1))).details).toMatchObject({ earlier_attempts: "not_recorded" });
    expect((await told(["n"], producer(9))).details).toMatchObject({ earlier_attempts: "not_recorded" });
    expect((await w.run(refused(p.appends.append(request(["plain"], {}))))).details).toEqual({ tail: 4 });
    const later = await LogWorld.make();
    const l = later.client("P");
    await later.run(l.appends.append(request(["a"], producer(0, 1))));
    await later.run(l.appends.seal(LOG));
    const former = await later.run(refused(later.client("L").appends.append(request(["a"], producer(0, 0)))));
    expect(former).toMatchObject({ code: "producer_fenced", details: { current_epoch: 1 } });
  });

  test("tells other records under one seq or key, and what is in it further back than positions are known", async () => {
    const { told, w, p } = await written().then(async (story) => {
      const { w, p } = story;
      for (let seq = 2; seq < 2 + appendLimits.producerBatchesMax; seq++) {
        await w.run(p.appends.append(request([`${seq}`], producer(seq))));
      }
      await w.run(p.appends.seal(LOG));
      return {
        ...story,
        told: (...given: Parameters<typeof request>) => w.run(refused(p.appends.append(request(...given)))),
      };
    });
    expect((await told(["other"], key)).code).toBe("idempotency_conflict");
    expect(await told(["a", "b"], producer(0))).toMatchObject({
      code: "producer_seq_passed",
      details: { already_appended: true },
    });
    expect(await w.run(p.appends.append(request(["2"], producer(2))))).toMatchObject({ duplicate: true });
  });

  test("that is empty had nobody's batch; one that is trimmed may have had", async () => {
    const empty = await LogWorld.make();
    const s = empty.client("S");
    await empty.run(s.appends.seal(LOG));
    const none = await empty.run(refused(s.appends.append(request(["a"], producer(0)))));
    expect(none.details).toMatchObject({ tail: 0, earlier_attempts: "not_recorded" });
    const { told, w } = await sealed();
    await w.trim(4);
    await w.audit();
    expect((await told(["a", "b"], producer(0))).details).toMatchObject({
      earlier_attempts: "not_remembered",
    });
  });

  test("reads its producers once, and no further back than the last snapshot", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    for (let seq = 0; seq < 3 * appendLimits.producerSnapshotEntries; seq++) {
      await w.run(p.appends.append(request([`${seq}`], producer(seq))));
    }
    await w.run(p.appends.seal(LOG));
    const q = w.client("Q", "west");
    const reads = () => w.faults.count({ client: "Q", port: "bookie", call: "read" });
    const again = () => w.run(q.appends.append(request(["190"], producer(190))));
    expect(await again()).toMatchObject({ start: { seqNum: 190 }, duplicate: true });
    const first = reads();
    expect(first).toBeLessThan(2 * appendLimits.producerSnapshotEntries);
    expect(await again()).toMatchObject({ duplicate: true });
    expect(reads() - first).toBeLessThan(6);
  });

  test("whose producers cannot be read says so, and is asked again", async () => {
    const { w, told, q } = await sealed();
    const end = w.faults.fail({ client: "Q", port: "bookie" });
    const error = await told(["a", "b"], producer(0));
    expect(error).toMatchObject({ code: "insufficient_regions", retryable: true, sideEffects: "none" });
    expect(error.message).toMatch(/was sealed at 4; .*; whether this batch is in it could not be read/);
    end();
    expect(await w.run(q.appends.append(request(["a", "b"], producer(0))))).toMatchObject({
      start: { seqNum: 1 },
    });
  });
});
