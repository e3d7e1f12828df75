/** Each request to the append function lets an old copy of the registry be read anew, beside the request. */
import { expect, test } from "vitest";
import { limits } from "../../../lib/protocol/limits.ts";
import { LogAppends } from "../../../lib/protocol/log/log-appends.ts";
import { Registry, registerBookie, setBookieState } from "../../../lib/protocol/placement/registry.ts";
import { LOG, LogWorld, recordOf } from "../../scenarios/log/log-world.ts";

test("appends that need no ledger keep the registry young for the one that will (RG2)", async () => {
  const w = await LogWorld.make();
  const { ports } = w.client("P");
  const behind = { ...ports, metadata: w.world.metadata };
  for (const address of w.world.addresses) await registerBookie(behind, address);
  const topology = new Registry(ports, w.world.addresses);
  const appends = new LogAppends({ ...ports, topology });
  const append = (text: string) => w.run(appends.append({ log: LOG, records: [recordOf(text)] }));
  await append("opens a segment");
  const [some] = w.world.addresses;
  if (some === undefined) throw new Error("no bookie");
  await setBookieState(behind, some.id, "read-only");
  const reads = () => w.faults.count({ client: "P", port: "metadata", call: "query", about: "bookies" });
  const before = reads();
  for (let appended = 0; appended < 5; appended++) await append("soon after");
  expect(reads()).toBe(before);
  await w.world.clock.advance(limits.registryRefreshMs);
  await append("into the same segment");
  await w.idle();
  expect(reads()).toBe(before + 1);
  // The copy itself, without a question that would have it read anew.
  expect(topology.states().bookies.get(some.id)).toBe("read-only");
  expect(reads()).toBe(before + 1);
});
