/** A log is transferred, and one of the two regions freezes at any call of that; it thaws an hour later. */
import { describe, expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import type { TopologyStates } from "../../../lib/protocol/replication.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { freezeAt, freezes } from "../freeze.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";

/** Whatever `frozen` does stops at its `at`-th call from now on, and it answers nobody any more. */
function freezing(w: LogWorld, frozen: LogClient, name: string, moment: "before" | "after", at: number) {
  const ice = freezeAt(w.faults, [{ client: name }], moment, at);
  for (const when of ["before", "after"] as const) {
    const inbound = { port: "region", target: frozen.ports.region } as const;
    w.faults.at(inbound, when, Number.POSITIVE_INFINITY, () => (ice.isFrozen() ? ice.thawed : undefined));
  }
  return ice;
}

/** A producer's batches: each is sent again until it is acknowledged, through whichever of them. */
async function sendAll(clients: readonly LogClient[], id: string, count: number): Promise<string[]> {
  const told: string[] = [];
  for (let seq = 0; seq < count; seq++) {
    for (let attempt = 0; ; attempt++) {
      const client = clients[attempt % clients.length] as LogClient;
      const request = { log: LOG, records: [recordOf(`${id}${seq}`)], sender: { id, epoch: 0, seq } };
      const ack = await client.appends.append({ ...request, timeoutMs: 5_000 }).catch(() => undefined);
      if (ack === undefined && attempt < 20) continue;
      told.push(ack === undefined ? "none" : `${ack.start.seqNum}`);
      break;
    }
  }
  return told;
}

describe.each(["before", "after"] as const)("frozen %s any call", (moment) => {
  test.each(["P", "Q"])("of a transfer from P's region to Q's: %s", EXHAUSTIVE, async (frozen) => {
    let at = 0;
    for (let isFrozen = true; isFrozen && at < 80; at++) {
      const w = await LogWorld.make({ leases: true, forwarding: true });
      const [p, q, n] = [w.client("P", "east"), w.client("Q", "west"), w.client("N", "north")];
      expect(await p.append("a")).toEqual(["at 0"]);
      const ice = freezing(w, frozen === "P" ? p : q, frozen, moment, at);
      const moving = n.appends.transferOwner(LOG, region("west")).catch((error) => error.code);
      const told = await w.run(sendAll([n], "n", 3));
      isFrozen = ice.isFrozen();
      w.world.clock.jump(3_600_000);
      ice.thaw();
      await w.run(moving);
      const after = await w.run(sendAll([p, q, n], "z", 2));
      const log = await w.client("T", "north").read(0);
      const want = [
        ...told.map((one, seq) => [one, `n${seq}`]),
        ...after.map((one, seq) => [one, `z${seq}`]),
      ];
      for (const [position, text] of want) {
        expect(log[Number(position)], `call ${at}: ${text} at ${position} of ${log}`).toBe(text);
        expect(log.filter((one) => one === text)).toHaveLength(1);
      }
    }
    expect(at).toBeGreaterThan(6);
  });
});

test.each(freezes)(
  "OT3: P freezes %s a call of its draining region's exit (its clocks %s), open again when it thaws: the log stays",
  EXHAUSTIVE,
  async (moment, passes) => {
    for (let at = 0; ; at++) {
      const w = await LogWorld.make({ leases: true, forwarding: true });
      const [p, q, n] = [w.client("P", "east"), w.client("Q", "west"), w.client("N", "north")];
      expect(await p.append("a")).toEqual(["at 0"]);
      const isDraining = { bookies: new Map(), regions: new Map([[p.ports.region, "draining" as const]]) };
      const isOpen = { bookies: new Map(), regions: new Map() };
      let states: TopologyStates = isDraining;
      const p2 = w.client("P2", "east");
      for (const { ports } of [p, p2, q, n]) ports.topology.states = () => states;
      const ice = freezing(w, p, "P", moment, at);
      const leaving = p.sending("b");
      await w.world.clock.advance(100);
      // A request to take over that was sent is the other region's.
      if (w.faults.count({ client: "P", port: "region", call: "ask" }) > 0)
        return expect(at).toBeGreaterThan(6);
      states = isOpen;
      expect(await p2.append("p")).toEqual(["at 1"]);
      w.world.clock[passes](3_600_000);
      expect(await p2.append("q")).toEqual(["at 2"]);
      ice.thaw();
      await w.run(leaving);
      await w.world.clock.advance(30_000);
      const owners = (await w.run(n.reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);
      expect(new Set(owners), `call ${at}`).toEqual(new Set(["east"]));
    }
  },
);
