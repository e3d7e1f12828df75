/** The requests that the cost is computed from are those that the shipped protocol makes. */
import { expect, test } from "vitest";
import { appendCost, appendRequests, totalOf } from "../../lib/infra/cost/append-cost.ts";
import { LogWorld } from "../scenarios/log/log-world.ts";

test.each([
  [4, 3],
  [3, 2],
])("an append with %i copies makes the requests that are charged for", async (writeQuorum, ackQuorum) => {
  const w = await LogWorld.make({
    bookies: ["B0@east", "B1@east", "B2@west", "B3@west"],
    quorums: [writeQuorum, writeQuorum, ackQuorum],
    minRegions: 2,
    leases: true,
  });
  const writer = w.client("W", "east");
  const append = async () => {
    await w.world.run(writer.append("a record"));
    await w.world.run(writer.appends.release());
  };
  await append();
  const before = w.faults.log.length;
  await append();
  const calls = w.faults.log.slice(before);
  const count = (port: string, ...names: string[]) =>
    calls.filter((one) => one.port === port && names.includes(one.call)).length;
  expect({
    leaseReads: count("lease", "read"),
    leaseWrites: count("lease", "write"),
    metadataReads: count("metadata", "get", "query"),
    metadataWrites: count("metadata", "write", "remove"),
    bookieCalls: calls.filter(({ port }) => port === "bookie").length,
    slotPuts: count("store", "putIfAbsent", "put"),
    slotGets: count("store", "get"),
  }).toEqual(appendRequests(writeQuorum));
});

test("the lines add up: 100 ms, 80 ms and 1 KB with four copies, by hand", () => {
  const lines = appendCost({
    writeQuorum: 4,
    remoteCopies: 2,
    batchBytes: 1_024,
    withGateway: true,
    appendMs: 100,
    bookieMs: 80,
  });
  // 3.50 + 0.20 + 2.30 + 0.125 + 1.25 + 4 x (0.20 + 1.0667) + 20 + 3.20 + 0.0509
  expect(totalOf(lines)).toBeCloseTo(35.7, 1);
});
