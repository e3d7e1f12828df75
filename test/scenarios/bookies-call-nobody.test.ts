/** Storage nodes of different regions never talk to each other, nor to anybody else (ADR 4). */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { World } from "./world.ts";

test("a bookie is built from its own store and a clock, and its code knows no other port", () => {
  const folder = new URL("../../lib/protocol/bookie/", import.meta.url);
  for (const file of readdirSync(folder)) {
    const source = readFileSync(new URL(file, folder), "utf8");
    for (const port of ["Bookies", "MetadataStore", "LeaseStore", "Topology", "LedgerPorts"]) {
      expect(source, `${file} mentions ${port}`).not.toMatch(new RegExp(`\\b${port}\\b`));
    }
  }
});

test("whatever is asked of a bookie, the only calls that follow are to that bookie's own store", async () => {
  const w = await World.make({
    bookies: ["B0@east", "B1@east", "B2@west", "B3@west"],
    quorums: [3, 3, 2],
    minRegions: 2,
  });
  const writer = await w.writer();
  await writer.add("e0", "e1");
  w.faults.fail({ target: "B1", port: "bookie" });
  await writer.add("e2");
  await w.recover();
  await w.read(w.reader(), 2);
  const storeCalls = w.faults.log.filter((call) => call.port === "store");
  const askedOf = (client: string) =>
    new Set(
      w.faults.log
        .filter((call) => call.port === "bookie" && call.client === client)
        .map((call) => call.target),
    );
  expect(storeCalls.length).toBeGreaterThan(20);
  for (const call of storeCalls) expect(askedOf(call.client)).toContain(call.target);
  // Metadata is touched by clients, never on the way through a bookie: the bookie has no such port at all.
  expect(w.faults.count({ port: "metadata" })).toBeGreaterThan(0);
});
