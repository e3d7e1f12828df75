/** Copies that rot on a bookie: never replaced, never counted, and no obstacle where other copies are whole. */
import { expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import type { SealedEntry } from "../../../lib/protocol/ports.ts";
import { World } from "../world.ts";

const four = { bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 2] as const };

async function rot(w: World, bookie: string, entry: number, change: (copy: SealedEntry) => SealedEntry) {
  const key = { kind: "slot", ledgerId: w.theLedger(), entryId: entryId(entry) } as const;
  const value = await w.store(bookie).get(key);
  if (value?.kind !== "original") throw new Error(`${bookie} has no Original of ${entry}`);
  await w.store(bookie).put(key, { kind: "original", entry: change(value.entry) });
}

const flip = (bytes: Uint8Array) => bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte));

test.each([
  ["payload", (copy: SealedEntry) => ({ ...copy, payload: flip(copy.payload) })],
  ["digest", (copy: SealedEntry) => ({ ...copy, digest: flip(copy.digest) })],
  ["length", (copy: SealedEntry) => ({ ...copy, header: { ...copy.header, length: 1 } })],
])(
  "recovery puts another bookie in the place of one whose copy has a rotten %s (rule 4)",
  async (_, change) => {
    const w = await World.make(four);
    const writer = await w.writer();
    await writer.add("e0");
    await rot(w, "B1", 0, change);
    w.cut("R", "B2");
    const closed = await w.recover();
    expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    // B0 alone is whole among those in reach: an ACK set of two needs B3.
    expect(await w.ensembles()).toEqual({ 0: expect.stringContaining("B3") });
    expect(await w.slot("B1", 0)).toBe("original");
    expect(await w.read(w.reader(), 0)).toBe("e0");
  },
);

test("a resend that meets a rotten copy of itself is neither OK nor FENCED (rule 2)", async () => {
  const w = await World.make(four);
  const writer = await w.writer();
  const lost = w.faults.hold({ client: "W", target: "B1", call: "add", about: 0 }, "after", 1);
  const added = writer.send("e0");
  await w.idle();
  await rot(w, "B1", 0, (copy) => ({ ...copy, digest: flip(copy.digest) }));
  lost.lose();
  expect(await w.run(added)).toBe("acknowledged 0"); // by B0 and B2
  await w.clock.advance(5_000);
  expect(writer.writer.stopped).toBeUndefined();
  expect(w.trace).toContainEqual(expect.objectContaining({ event: "bookie-failed", bookie: "B1" }));
});
