/**
 * H07: one bookie is several processes over one store, and nothing but the store's put-if-absent decides
 * between them. Every order of the single store operations is played.
 */
import { describe, expect, test } from "vitest";
import { bookieId, ledgerId } from "../../../lib/protocol/ids.ts";
import type { Bookie, SealedEntry } from "../../../lib/protocol/ports.ts";
import type { Match } from "../faults.ts";
import { World } from "../world.ts";
import { everyOrder, type Turnstile } from "./every-order.ts";
import { freshProcess, sealed } from "./meddling.ts";

/** The operations that decide anything; the identity marker never changes in these stories. */
const deciding: readonly Match[] = [{ about: 0 }, { about: "fence" }];
const all: readonly Match[] = [{}];

interface Stage {
  readonly w: World;
  readonly entry: SealedEntry;
  /** Another process that acts as the one bookie; its store operations wait for their turn. */
  process(name: string): Bookie;
}

async function stage(turnstile: Turnstile, waiting: readonly Match[]): Promise<Stage> {
  const w = await World.make({ bookies: ["B0"], quorums: [1, 1, 1] });
  w.ledgerId = ledgerId(7);
  for (const match of waiting) {
    w.faults.at({ port: "store", ...match }, "before", Number.POSITIVE_INFINITY, () => turnstile.pass());
  }
  return {
    w,
    entry: sealed(w, { entry: 0 }),
    process: (name) => w.ports(name).bookies.bookie(bookieId("B0")),
  };
}

/** What a call came to, once it is over. */
function outcome<T extends { kind: string }>(call: Promise<T>): { kind: string } {
  const box = { kind: "pending" };
  const note = (kind: string) => {
    box.kind = kind;
  };
  call.then(
    (answer) => note(answer.kind),
    () => note("unknown"),
  );
  return box;
}

describe("two processes of one bookie", () => {
  test("H07 (rules 2, 3): add and fencing read in every order: an OK never meets a negative", async () => {
    const seen = new Map<string, number>();
    const orders = await everyOrder(async (turnstile) => {
      const { w, entry, process } = await stage(turnstile, all);
      const add = outcome(process("writer").add(entry));
      const read = outcome(process("recoverer").recoveryRead(entry.header.ledgerId, entry.header.entryId));
      return async () => {
        const both = `${add.kind}, ${read.kind}`;
        seen.set(both, (seen.get(both) ?? 0) + 1);
        expect(["ok, entry", "fenced, entry", "fenced, tombstone"]).toContain(both);
        expect(await w.slot("B0", 0)).toBe(read.kind === "entry" ? "original" : "tombstone");
        expect(await freshProcess(w, "B0").add(entry)).toEqual({ kind: "fenced" });
      };
    });
    expect(orders).toBeGreaterThan(50);
    // Each legal outcome does occur, so the orders were not all alike.
    expect([...seen.keys()].sort()).toEqual(["fenced, entry", "fenced, tombstone", "ok, entry"]);
  });

  test("H07 (rules 1 to 3): an add and two fencing reads: once negative, never OK", async () => {
    const seen = new Set<string>();
    const orders = await everyOrder(async (turnstile) => {
      const { w, entry, process } = await stage(turnstile, deciding);
      const { ledgerId: id, entryId } = entry.header;
      const add = outcome(process("writer").add(entry));
      const reads = ["R1", "R2"].map((name) => outcome(process(name).recoveryRead(id, entryId)));
      return async () => {
        const kinds = reads.map((read) => read.kind);
        seen.add([add.kind, ...kinds].join(" "));
        expect(kinds[0]).toBe(kinds[1]); // the slot is write-once: both see the same
        if (add.kind === "ok") expect(kinds).toEqual(["entry", "entry"]);
        else expect(add.kind).toBe("fenced");
        expect(await w.slot("B0", 0)).toBe(kinds[0] === "entry" ? "original" : "tombstone");
      };
    });
    expect(orders).toBeGreaterThan(1_000);
    expect(seen.size).toBe(3);
  });

  test("H07 (rule 2): an add sent twice and a fencing read: neither is OK after a negative", async () => {
    const seen = new Set<string>();
    await everyOrder(async (turnstile) => {
      const { entry, process } = await stage(turnstile, deciding);
      const adds = ["first", "again"].map((name) => outcome(process(name).add(entry)));
      const read = outcome(process("recoverer").recoveryRead(entry.header.ledgerId, entry.header.entryId));
      return () => {
        const oks = adds.filter((add) => add.kind === "ok").length;
        seen.add(`${oks} ok, ${read.kind}`);
        if (read.kind === "tombstone") expect(oks).toBe(0);
        expect(adds.every((add) => add.kind === "ok" || add.kind === "fenced")).toBe(true);
      };
    });
    expect([...seen].sort()).toEqual(["0 ok, entry", "0 ok, tombstone", "1 ok, entry", "2 ok, entry"]);
  });

  test("H07 (rules 2, 9): add and seal in every order: exactly one of them has the slot", async () => {
    const seen = new Set<string>();
    await everyOrder(async (turnstile) => {
      const { entry, process } = await stage(turnstile, all);
      const add = outcome(process("writer").add(entry));
      const seal = outcome(process("closer").seal(entry.header.ledgerId, entry.header.entryId));
      return () => void seen.add(`${add.kind}, ${seal.kind}`);
    });
    expect([...seen].sort()).toEqual(["fenced, sealed", "ok, occupied"]);
  });

  test("H07 (rules 2, 4): add and write-back: a Recovered copy never makes an add OK", async () => {
    const seen = new Set<string>();
    await everyOrder(async (turnstile) => {
      const { w, entry, process } = await stage(turnstile, deciding);
      const { ledgerId: id, entryId } = entry.header;
      const add = outcome(process("writer").add(entry));
      const recoverer = process("recoverer");
      const read = recoverer.recoveryRead(id, entryId);
      const answer = outcome(read);
      const written = outcome(read.then(() => recoverer.recoveryAdd(entry)));
      return async () => {
        expect(written.kind).toBe("ok");
        const slot = await w.slot("B0", 0);
        seen.add(`${add.kind}, ${answer.kind}, ${slot}`);
        if (answer.kind === "tombstone") expect([add.kind, slot]).toEqual(["fenced", "recovered"]);
        else expect(slot).toBe("original");
      };
    });
    expect([...seen].sort()).toEqual([
      "fenced, entry, original",
      "fenced, tombstone, recovered",
      "ok, entry, original",
    ]);
  });

  test("H07 (rules 2, 20): two adds of other content: one is OK, the other is told fenced", async () => {
    const seen = new Set<string>();
    await everyOrder(async (turnstile) => {
      const { w, entry, process } = await stage(turnstile, all);
      const other = sealed(w, { entry: 0, tenure: "another" });
      const one = outcome(process("one tenure").add(entry));
      const two = outcome(process("another tenure").add(other));
      return () => void seen.add(`${one.kind}, ${two.kind}`);
    });
    expect([...seen].sort()).toEqual(["fenced, ok", "ok, fenced"]);
  });
});
