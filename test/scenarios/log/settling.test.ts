/** Stories of tails that a reader cannot decide, because bookies of the tail are down (rule 14). */
import { expect, test } from "vitest";
import { ledgerId } from "../../../lib/protocol/ids.ts";
import { LOG, LogWorld } from "./log-world.ts";

/** The last record of an idle log is on B0 and B1; then B0 is gone, and one Original is no ACK set. */
async function undecidedTail() {
  const w = await LogWorld.make();
  const owner = w.client("P", "east");
  w.faults.fail({ client: "P", port: "bookie", call: "add", target: "B2", about: 1 });
  expect(await owner.append("a")).toEqual(["at 0"]);
  expect(await owner.append("b")).toEqual(["at 1"]);
  return { w, owner };
}

test("14: the last record of an idle log is read with a bookie down: the owner settles it", async () => {
  const { w } = await undecidedTail();
  w.faults.fail({ client: "T", port: "bookie", target: "B0" });
  const t = w.client("T", "west");
  expect(await t.read(0)).toEqual(["a"]);
  expect(await t.answer(1)).toMatchObject({ next: 2, tail: 2, upToDate: true });
  expect(w.world.trace.filter((event) => event.event === "tail-settled")).toMatchObject([
    { how: "control-entry" },
  ]);
  expect(Object.keys(await w.chain())).toEqual(["0"]);
});

test("14: with the owner silent too the reader's region takes over and closes the ledger", async () => {
  const { w, owner } = await undecidedTail();
  for (const client of ["T", "S"]) w.faults.fail({ client, port: "bookie", target: "B0" });
  owner.appends.settle = () => Promise.reject(new Error("silent"));
  const t = w.client("T", "west");
  expect(await t.answer(1)).toMatchObject({ next: 2, tail: 2, upToDate: true });
  expect(w.world.trace.filter((event) => event.event === "tail-settled")).toMatchObject([
    { how: "takeover" },
  ]);
  expect(await w.ledgerState((await w.chain())[0])).toBe("CLOSED");
  expect(await owner.append("c")).toEqual(["at 2"]);
});

test("14: what cannot be settled is insufficient_regions and names who answered", async () => {
  const { w, owner } = await undecidedTail();
  owner.appends.settle = () => Promise.reject(new Error("silent"));
  const up = ["B0", "B2", "B3"].map((target) => w.faults.fail({ port: "bookie", target }));
  const t = w.client("T", "west");
  const request = { log: LOG, from: 1 as never, limit: 10, consistency: "strong" } as const;
  const error = await w.run(t.reads.read(request).catch((reason) => reason));
  expect([error.code, error.retryable, error.sideEffects]).toEqual(["insufficient_regions", true, "none"]);
  expect(error.details).toEqual({ answered_regions: ["west"], silent_regions: ["east", "north"] });
  for (const end of up) end();
  expect(await t.read(1)).toEqual(["b"]);
});

test("14, 13: a settling entry that one bookie got is enough for T1", async () => {
  const { w } = await undecidedTail();
  for (const target of ["B0", "B2", "B3"]) w.faults.fail({ port: "bookie", target });
  expect(await w.client("T", "west").answer(1)).toMatchObject({ next: 2, tail: 2, upToDate: false });
});

test("14: settling an idle, a closed and an empty log changes nothing that was acknowledged", async () => {
  const w = await LogWorld.make({ segmentBytesMax: 1 });
  const p = w.client("P");
  await w.run(p.appends.settle(LOG));
  await p.append("a");
  await w.run(p.appends.settle(LOG));
  await w.run(w.client("Q", "west").appends.settle(LOG));
  await w.run(p.appends.settle(LOG));
  expect(await p.append("b")).toEqual(["at 1"]);
  expect(await w.client("T", "north").read(0)).toEqual(["a", "b"]);
});

test("14, 10: a recovery that came to nothing hides the tail from readers, not from its writer: settling ends it", async () => {
  const { w, owner } = await undecidedTail();
  const id = ledgerId(Number((await w.chain())[0]));
  const failing = w.faults.fail({ client: "R", port: "bookie" });
  await w.run(
    w
      .client("R", "west")
      .appends.recoverLedger(id)
      .catch(() => undefined),
  );
  failing();
  expect(await w.ledgerState(id)).toBe("IN_RECOVERY");
  expect(await owner.append("c")).toEqual(["at 2"]);
  w.faults.fail({ client: "T", port: "bookie", target: "B0" });
  const t = w.client("T", "west");
  expect(await w.run(t.reads.tail(LOG, "strong"))).toMatchObject({ tail: 3, upToDate: true });
  expect(await w.ledgerState(id)).toBe("CLOSED");
  expect(await owner.append("d")).toEqual(["at 3"]);
  expect(await t.read(0)).toEqual(["a", "b", "c", "d"]);
});
