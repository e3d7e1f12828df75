/** Stories of deletion (rule 29): of one log, of its zombies, and of the next log of that name. */
import { describe, expect, test } from "vitest";
import type { FencelineError } from "../../../lib/protocol/errors.ts";
import { directoryKey, logKey, logNameKey } from "../../../lib/protocol/items.ts";
import { finishDeletion } from "../../../lib/protocol/log/upkeep/delete-log.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LOG, type LogClient, LogWorld } from "./log-world.ts";

/** Every segment is full after one batch. */
const ONE_BATCH = { segmentBytesMax: 1 };

/** "deleted", "deleting", or the error's code. */
const deleting = (client: LogClient): Promise<string> =>
  client.appends
    .deleteLog(LOG)
    .catch((error: FencelineError) => `${error.code}, side effects ${error.sideEffects}`);

async function listed(w: LogWorld): Promise<readonly string[]> {
  return (await w.run(w.client("L").reads.listLogs({ prefix: "", limit: 9 }))).logs;
}

async function logState(w: LogWorld): Promise<string | undefined> {
  const item = (await w.world.metadata.get(logKey(w.log), "consistent"))?.item;
  return item?.kind === "log" ? item.state : undefined;
}

const isNamed = async (w: LogWorld) =>
  (await w.world.metadata.get(logNameKey(LOG), "consistent")) !== undefined;

describe("a deleted log", () => {
  test("is gone for everybody: ledgers, items, name and listing; its END and its item stay", async () => {
    const w = await LogWorld.make(ONE_BATCH);
    const p = w.client("P");
    await p.append("a", "b");
    // A reader each: one that got "not found" looks the name up again.
    const readers = [0, 1, 2, 3].map((from) => ({ from, t: w.client(`T${from}`, "west") }));
    for (const { t } of readers) expect(await t.read(0)).toEqual(["a", "b"]);
    const t = w.client("T", "west");
    expect(await t.tail()).toBe(2);
    const ledgers = Object.values(await w.chain());
    expect(await w.run(deleting(w.client("D", "north")))).toBe("deleted");
    expect(await w.chain()).toEqual({ 2: "end" });
    for (const id of ledgers) expect(await w.ledgerState(id)).toBe("DELETED");
    expect([await logState(w), await isNamed(w), await listed(w)]).toEqual(["deleting", false, []]);
    for (const { from, t } of readers) expect(await t.readOrError(from)).toBe("log_not_found");
    await expect(t.tail()).rejects.toMatchObject({ code: "log_not_found" });
    expect(await p.append("c")).toEqual(["log_not_found, side effects none"]);
    expect(await w.run(deleting(p))).toBe("log_not_found, side effects none");
  });

  test("of another life than the one asked for is left alone, and the answer says so", async () => {
    const w = await LogWorld.make();
    const former = await w.deleteAndCreateAgain();
    const refused = w.client("P").appends.deleteLog(LOG, former);
    await expect(w.run(refused.catch((error: FencelineError) => error.message))).resolves.toMatch(
      new RegExp(`no incarnation ${former}.* now it is ${w.log}; nothing was deleted`),
    );
    expect(await logState(w)).toBe("active");
  });

  test("may be empty, sealed, or never written to; its name may be created again", async () => {
    const w = await LogWorld.make();
    const former = await w.deleteAndCreateAgain();
    const p = w.client("P");
    await p.append("a");
    await w.run(p.appends.seal(LOG));
    const later = await w.deleteAndCreateAgain();
    expect(new Set([former, later, w.log]).size).toBe(3);
    expect(await p.append("b")).toEqual(["at 0"]);
    expect(await w.client("T", "west").read(0)).toEqual(["b"]);
    expect(await listed(w)).toEqual([LOG]);
  });

  test("is answered for as soon as it says 'deleting': what is left is left to a later call", async () => {
    const w = await LogWorld.make(ONE_BATCH);
    await w.client("P").append("a", "b");
    w.faults.fail({ client: "D", call: "remove", about: w.elections }, "before", 40);
    const d = w.client("D", "north");
    expect(await w.run(deleting(d))).toBe("deleting");
    expect([await logState(w), await isNamed(w)]).toEqual(["deleting", true]);
    expect(await w.client("T").readOrError(0)).toBe("log_not_found");
    expect(await w.client("Q").append("q")).toEqual(["log_not_found, side effects none"]);
    const creation = w.client("C").appends.createLog(LOG, w.config);
    await expect(w.run(creation)).rejects.toMatchObject({ code: "not_ready" });
    expect(await w.run(deleting(w.client("E", "west")))).toBe("deleted");
    expect([await isNamed(w), await listed(w)]).toEqual([false, []]);
  });

  test("whose last segment cannot be recovered stays as it was, and says what may have happened", async () => {
    const w = await LogWorld.make();
    await w.client("P").append("a");
    const ends = ["B0", "B1"].map((target) => w.faults.fail({ client: "D", port: "bookie", target }));
    expect(await w.run(deleting(w.client("D")))).toMatch(/^insufficient_regions/);
    expect([await logState(w), await isNamed(w)]).toEqual(["active", true]);
    for (const end of ends) end();
    expect(await w.client("T", "west").read(0)).toEqual(["a"]);
    expect(await w.run(deleting(w.client("D")))).toBe("deleted");
  });
});

describe("T08 (29): an opener freezes before its put, the log is deleted and created again", () => {
  test("END stands in its way; its record goes to the log that has the name now", async () => {
    const w = await LogWorld.make();
    const frozen = w.faults.hold({ client: "P", call: "write", about: w.elections });
    const late = w.client("P").sending("p");
    await w.idle();
    const former = await w.deleteAndCreateAgain();
    frozen.release();
    expect(await w.run(late)).toEqual(["at 0"]);
    expect(await w.chain(former)).toEqual({ 0: "end" });
    expect(Object.keys(await w.chain())).toEqual(["0"]);
    expect(await w.client("T", "west").read(0)).toEqual(["p"]);
  });

  test("where items were removed its put wins, fails the check, and the next pass removes it", async () => {
    const w = await LogWorld.make(ONE_BATCH);
    const frozen = w.faults.hold({ client: "P", call: "write", about: w.elections });
    const late = w.client("P").sending("p");
    await w.idle();
    await w.client("Q", "west").append("q0", "q1");
    const former = await w.deleteAndCreateAgain();
    const check = w.faults.hold({ client: "P", call: "get", about: logKey(former).partition });
    frozen.release();
    await w.idle();
    const zombie = (await w.chain(former))[0];
    expect(await w.chain(former)).toEqual({ 0: zombie, 2: "end" });
    const t = w.client("T", "north");
    expect(await t.answer(0)).toMatchObject({ records: [], tail: 0, upToDate: true });
    check.release();
    expect(await w.run(late)).toEqual(["at 0"]);
    expect(await t.read(0)).toEqual(["p"]);
    const sweeper = w.world.ports("sweeper", "west");
    expect(await w.run(finishDeletion(sweeper, former))).toBe("deleted");
    expect(await w.chain(former)).toEqual({ 2: "end" });
    expect(await w.ledgerState(zombie)).toBe("DELETED");
    expect(await w.run(finishDeletion(sweeper, w.log))).toBe("kept");
    expect(await t.read(0)).toEqual(["p"]);
    expect(await listed(w)).toEqual([LOG]);
  });

  test("without the END its put wins at 0 of the dead log; only the check is left in its way", async () => {
    const w = await LogWorld.make();
    const frozen = w.faults.hold({ client: "P", call: "write", about: w.elections });
    const late = w.client("P").sending("p");
    await w.idle();
    const former = await w.deleteAndCreateAgain();
    await w.removeItem({ partition: w.elections.replace(w.log, former), sort: "0000000000000000" });
    frozen.release();
    await w.run(late);
    expect(await w.ledgerState((await w.chain(former))[0])).toBe("DELETED");
  });
});

describe("two delete at once", () => {
  test("wherever one of them is when the other does it all: deleted, once", EXHAUSTIVE, async () => {
    for (let held = 0; ; held++) {
      const w = await LogWorld.make(ONE_BATCH);
      await w.client("P").append("a", "b");
      const slow = w.client("slow", "west");
      const quick = w.client("quick", "north");
      let count = 0;
      w.faults.at({ client: "slow", port: "metadata" }, "before", Number.POSITIVE_INFINITY, async () => {
        if (count++ !== held) return;
        await deleting(quick);
      });
      const outcome = await w.run(deleting(slow));
      expect(outcome).toMatch(/^deleted$|^log_not_found/);
      expect([await logState(w), await isNamed(w), await listed(w)]).toEqual(["deleting", false, []]);
      expect(await w.chain()).toEqual({ 2: "end" });
      if (count <= held) break;
    }
  });

  test(
    "wherever a slow one is when the name is created again: the new log is left alone",
    EXHAUSTIVE,
    async () => {
      for (let held = 0; ; held++) {
        const w = await LogWorld.make(ONE_BATCH);
        await w.client("P").append("a", "b");
        const slow = w.client("slow", "west");
        const quick = w.client("quick", "north");
        let count = 0;
        let deletedMeanwhile = false;
        // Not the very first call, the look-up of the name: from there on it is about the former log.
        w.faults.at({ client: "slow", port: "metadata" }, "before", Number.POSITIVE_INFINITY, async () => {
          if (count++ !== held + 2) return;
          await deleting(quick);
          await w.creatingAgain();
          deletedMeanwhile = true;
        });
        await w.run(deleting(slow));
        if (!deletedMeanwhile) break;
        expect([await logState(w), await isNamed(w), await listed(w)]).toEqual(["active", true, [LOG]]);
        expect(await w.client("Q").append("q")).toEqual(["at 0"]);
      }
    },
  );
});

describe.each(["before", "after"] as const)("a call of a deletion fails %s its effect", (moment) => {
  test("whichever it is: as said, and deleted in the end", EXHAUSTIVE, async () => {
    let deletedAtOnce = 0;
    for (let failing = 0; ; failing++) {
      const w = await LogWorld.make(ONE_BATCH);
      await w.client("P").append("a", "b");
      let count = 0;
      w.faults.at({ client: "D", port: "metadata" }, moment, Number.POSITIVE_INFINITY, () => {
        if (count++ === failing) throw new Error("lost");
      });
      const first = await w.run(deleting(w.client("D", "west")));
      if (first === "deleted") deletedAtOnce += 1;
      if (first.startsWith("delet")) expect(await logState(w)).toBe("deleting");
      if (first.endsWith("none")) expect(await logState(w)).toBe("active");
      const second = await w.run(deleting(w.client("E", "north")));
      expect(second).toMatch(/^deleted$|^log_not_found/);
      expect([await logState(w), await isNamed(w), await listed(w)]).toEqual(["deleting", false, []]);
      expect(await w.chain()).toEqual({ 2: "end" });
      if (count <= failing) break;
    }
    expect(deletedAtOnce).toBeGreaterThan(5);
  });
});

test("29: an item that names another ledger by now is not the one that was to go", async () => {
  const w = await LogWorld.make(ONE_BATCH);
  const zombies = ["Z0", "Z1"].map((name) => {
    const frozen = w.faults.hold({ client: name, call: "write", about: w.elections });
    return { frozen, late: w.client(name).sending(name) };
  });
  await w.idle();
  await w.client("Q", "west").append("q0", "q1");
  const elections = w.elections;
  const former = await w.deleteAndCreateAgain();
  zombies[0]?.frozen.release();
  await w.run(zombies[0]?.late ?? Promise.reject(new Error("no zombie")));
  const look = w.faults.hold({ client: "slow", call: "get", about: elections });
  const slow = finishDeletion(w.world.ports("slow", "west"), former);
  await w.idle();
  expect(look.calls).toHaveLength(1);
  expect(await w.run(finishDeletion(w.world.ports("quick", "north"), former))).toBe("deleted");
  w.faults.hold({ client: "Z1", call: "get", about: logKey(former).partition });
  zombies[1]?.frozen.release();
  await w.idle();
  const second = (await w.chain(former))[0];
  expect(await w.ledgerState(second)).toBe("OPEN");
  look.release();
  await w.run(slow);
  expect((await w.chain(former))[0]).toBe(second);
  expect(await w.run(finishDeletion(w.world.ports("quick", "north"), former))).toBe("deleted");
  expect([await w.chain(former), await w.ledgerState(second)]).toEqual([{ 2: "end" }, "DELETED"]);
});

test("29: a slow deleter that looked at a stale listing does not unlist the log that was created since", async () => {
  const w = await LogWorld.make();
  const directory = directoryKey(LOG).partition;
  const release = w.faults.hold({ client: "quick", call: "remove", about: logNameKey(LOG).partition });
  const quick = deleting(w.client("quick"));
  await w.idle();
  await w.put(directoryKey(LOG), { kind: "directory", name: LOG });
  const remove = w.faults.hold({ client: "slow", call: "remove", about: directory });
  const slow = deleting(w.client("slow", "west"));
  await w.idle();
  expect([release.calls.length, remove.calls.length]).toEqual([1, 1]);
  release.release();
  expect(await w.run(quick)).toBe("deleted");
  await w.createAgain();
  remove.release();
  expect(await w.run(slow)).toBe("deleted");
  expect(await listed(w)).toEqual([LOG]);
});

test("29: a deletion that is repeated for one life of a name never meets the next one", async () => {
  const w = await LogWorld.make();
  const former = await w.deleteAndCreateAgain();
  const { appends } = w.client("D", "west");
  await expect(w.run(appends.deleteLog(LOG, former))).rejects.toMatchObject({ code: "log_not_found" });
  expect([await logState(w), await isNamed(w)]).toEqual(["active", true]);
  expect(await w.run(appends.deleteLog(LOG, w.log))).toBe("deleted");
});

test("29: a stale listing of a dead name does not outlive the next pass, a live one does", async () => {
  const w = await LogWorld.make();
  const { log } = w;
  await w.run(deleting(w.client("D")));
  await w.put(directoryKey(LOG), { kind: "directory", name: LOG });
  expect(await w.run(finishDeletion(w.world.ports("sweeper"), log))).toBe("deleted");
  expect(await listed(w)).toEqual([]);
  await w.createAgain();
  expect(await w.run(finishDeletion(w.world.ports("sweeper"), log))).toBe("deleted");
  expect(await listed(w)).toEqual([LOG]);
});
