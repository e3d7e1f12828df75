/** Stories of a process whose lease another one has by now: it writes nothing more, and fences nobody. */
import { expect, test } from "vitest";
import { limits } from "../../../lib/protocol/limits.ts";
import { LogWorld } from "./log-world.ts";

const world = () => LogWorld.make({ leases: true });

/** How many ledgers were recovered so far. */
const recoveries = (w: LogWorld) =>
  w.world.trace.filter((event) => event.event === "recovery-started").length;

test("LW5: a holder that finds its lease gone sends nothing more in that tenure", async () => {
  const w = await world();
  const [p, q] = [w.client("P"), w.client("Q")];
  expect(await p.append("a")).toEqual(["at 0"]);
  w.world.clock.jump(limits.leaseTtlMs);
  for (const text of ["q", "r", "s"]) expect((await q.append(text))[0]).toMatch(/^at /);
  await q.release();
  expect(await p.append("b")).toEqual(["at 4"]);
  const adds = w.faults.log.filter(({ client, call }) => client === "P" && call === "add");
  expect(new Set(adds.map(({ about }) => about))).toEqual(new Set(["0", "3"])); // its own first, and behind Q's
});

test("an opening fences nobody once the lease is another's, and waits for it", async () => {
  const w = await world();
  await w.client("R").append("r");
  const [p, q] = [w.client("P"), w.client("Q")];
  const slow = w.faults.hold({ client: "P", port: "metadata", call: "query" });
  const late = p.sending("p");
  while (slow.calls.length === 0) await w.world.clock.advance(50);
  const renews = w.faults.fail({ client: "P", port: "lease", call: "write" });
  expect(await q.append("q")).toEqual(["at 1"]);
  renews();
  await w.world.clock.advance(limits.leaseRenewAheadMs); // P finds out
  slow.release();
  await w.world.clock.advance(50);
  const releasing = (client: typeof p, sent: Promise<string[]>) =>
    sent.finally(() => client.appends.release());
  const told = await w.run(Promise.all([releasing(q, q.sending("s")), releasing(p, late)]));
  expect(told.flat().sort()).toEqual(["at 2", "at 3"]);
  expect(recoveries(w)).toBe(1); // of what R left
});
