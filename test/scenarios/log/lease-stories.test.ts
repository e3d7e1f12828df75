/** S23, S25 and S26: each as the rule has it, and with the bad end that the rule prevents. */
import { describe, expect, test } from "vitest";
import { entryId, type LedgerId } from "../../../lib/protocol/ids.ts";
import type { Lease } from "../../../lib/protocol/lease.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { LeaseStore } from "../../../lib/protocol/ports.ts";
import { LogWorld, type LogWorldFields } from "./log-world.ts";

const BOOKIES = ["B0", "B1", "B2", "B3"];

const make = (wrongLeases?: LogWorldFields["wrongLeases"]) =>
  LogWorld.make({ leases: true, ...(wrongLeases === undefined ? {} : { wrongLeases }) });

/** How many writers have content of their own in that slot of the first segment's ledger. */
async function contents(w: LogWorld, entry: number): Promise<number> {
  const ledgerId = (await w.chain())[0] as LedgerId;
  const tenures = new Set<string>();
  for (const name of BOOKIES) {
    const value = await w.world.store(name).get({ kind: "slot", ledgerId, entryId: entryId(entry) });
    if (value?.kind === "original" || value?.kind === "recovered") tenures.add(value.entry.header.tenure);
  }
  return tenures.size;
}

/** The client's adds reach B0 alone; the others are still under way. */
const reachesB0 = (w: LogWorld, client: string) =>
  ["B1", "B2"].map((target) => w.faults.hold({ client, port: "bookie", call: "add", target }));

/** What the tables of these stories change nothing of. */
const failuresOf = (table: LeaseStore): Pick<LeaseStore, "readFailures" | "writeFailures"> => ({
  readFailures: (owner) => table.readFailures(owner),
  writeFailures: (...given) => table.writeFailures(...given),
});

describe("S23 (16): A's release is executed twice, and A holds the lease again", () => {
  /** A lease table that knows its holders by name. */
  const byHolder = (table: LeaseStore): LeaseStore => ({
    ...failuresOf(table),
    read: (log) => table.read(log),
    write: async (log, expected, lease, token) => {
      const now = await table.read(log);
      const isMine = now?.lease.holder === lease.holder;
      return await table.write(log, isMine ? now.version : expected, lease, token);
    },
  });

  async function story(wrong?: (table: LeaseStore) => LeaseStore): Promise<LogWorld> {
    const releases: (() => Promise<unknown>)[] = [];
    const w = await make((given, client) => {
      const table = wrong?.(given) ?? given;
      if (client !== "A") return table;
      return {
        ...failuresOf(table),
        read: (log) => table.read(log),
        write: async (log, expected, lease, token) => {
          if (lease.expiresAtMs === 0) releases.push(() => table.write(log, expected, lease, token));
          return await table.write(log, expected, lease, token);
        },
      };
    });
    const a = w.client("A");
    await a.append("a");
    await a.release();
    const held = reachesB0(w, "A");
    void a.sending("in flight");
    await w.idle();
    await releases[0]?.();
    await w.client("B").append("b");
    for (const one of held) one.release();
    await w.idle();
    return w;
  }

  test("the duplicate changes nothing: B waits, recovers, and a slot has one content", async () => {
    expect(await contents(await story(), 1)).toBe(1);
  });

  test("a table that compares holders makes it clean, and a slot gets two contents", async () => {
    expect(await contents(await story(byHolder), 1)).toBe(2);
  });
});

describe("S25 (18, 20): a holder that died with an add in flight", () => {
  const alwaysClean = (table: LeaseStore, client: string): LeaseStore => ({
    ...{ write: (...given: Parameters<LeaseStore["write"]>) => table.write(...given) },
    ...failuresOf(table),
    read: async (log) => {
      const found = await table.read(log);
      if (found === undefined || client !== "B") return found;
      return { ...found, lease: { ...found.lease, clean: true } satisfies Lease };
    },
  });

  async function story(wrongLeases?: LogWorldFields["wrongLeases"]): Promise<LogWorld> {
    const w = await make(wrongLeases);
    const a = w.client("A");
    await a.append("a");
    await a.release();
    reachesB0(w, "A");
    void a.sending("in flight");
    await w.idle();
    w.world.clock.jump(limits.leaseTtlMs);
    await w.client("B").append("b");
    return w;
  }

  test("is recovered: a slot has one content", async () => {
    expect(await contents(await story(), 1)).toBe(1);
  });

  test("resumed as if it were clean, a slot gets two contents; the tenure keeps them apart", async () => {
    const w = await story(alwaysClean);
    expect(await contents(w, 1)).toBe(2);
    // Rule 20 turns B's add at B0 into a fence: nothing that was acknowledged is lost even so.
    expect(await w.client("T", "west").read(0)).toEqual(expect.arrayContaining(["a", "b"]));
  });
});

describe("S26 (19): B changed the ensemble between two tenures of A", () => {
  /** A takes the ledger for what it was when it released it last. */
  const asIKnowIt = (table: LeaseStore, client: string): LeaseStore => {
    let left: Lease["tail"];
    if (client !== "A") return table;
    return {
      ...failuresOf(table),
      write: (log, expected, lease, token) => {
        if (lease.expiresAtMs === 0) left = lease.tail;
        return table.write(log, expected, lease, token);
      },
      read: async (log) => {
        const found = await table.read(log);
        if (found?.lease.tail === undefined || left === undefined) return found;
        const tail = { ...found.lease.tail, ledgerVersion: left.ledgerVersion };
        return { ...found, lease: { ...found.lease, tail } };
      },
    };
  };

  /** Nobody is suspected: that would change the ensemble by itself. */
  const unsuspecting = (table: LeaseStore): LeaseStore => ({
    ...failuresOf(table),
    write: (...given) => table.write(...given),
    read: async (log) => {
      const found = await table.read(log);
      return found === undefined ? found : { ...found, lease: { ...found.lease, suspects: [] } };
    },
  });

  /** Whom A sends its second entry to. */
  async function story(wrong = (table: LeaseStore, _client: string) => table): Promise<string[]> {
    const w = await make((table, client) => wrong(unsuspecting(table), client));
    const a = w.client("A");
    await a.append("a");
    await a.release();
    const failing = ["B0", "B1"].map((target) =>
      w.faults.fail({ client: "B", port: "bookie", call: "add", target }),
    );
    const b = w.client("B");
    await b.append("b");
    for (const end of failing) end();
    await b.release();
    const before = w.faults.log.length;
    await a.append("a");
    const calls = w.faults.log.slice(before).filter(({ client, call }) => client === "A" && call === "add");
    return calls.map(({ target }) => target).sort();
  }

  test("A reads the changed ensemble and writes to its members alone", async () => {
    expect(await story()).toContain("B3");
  });

  test("with the ensemble that it knew, A writes to a bookie that no longer counts", async () => {
    expect(await story(asIKnowIt)).toEqual(["B0", "B1", "B2"]);
  });
});

describe("V2 (18): what a clean acquire returned is used once", () => {
  test("a roll that came to nothing does not lead back to where the tenure began", async () => {
    const w = await LogWorld.make({ leases: true, segmentBytesMax: 130 });
    const [p, q] = [w.client("P"), w.client("Q")];
    await p.append("a");
    await p.release();
    const texts = ["a"];
    const adds = () => w.faults.count({ client: "Q", port: "bookie", call: "add", about: 1 });
    // Q goes on behind entry 0, until the segment is full and cannot be closed.
    const end = w.faults.fail({ client: "Q", port: "metadata", call: "write" });
    for (let isFull = false; !isFull && texts.length < 9; ) {
      const [outcome = ""] = await q.append("b");
      isFull = !outcome.startsWith("at ");
      if (!isFull) texts.push("b");
    }
    expect(texts.length).toBeLessThan(9);
    const before = adds();
    expect(before).toBeGreaterThan(0);
    end();
    const [outcome = ""] = await q.append("c");
    expect(outcome).toBe(`at ${texts.length}`);
    expect(adds()).toBe(before);
    expect(await w.client("T", "west").read(0)).toEqual([...texts, "c"]);
  });
});
