/** Cancelled reads: simulated distance and lost regions release them at once. */
import { expect, test } from "vitest";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { equallyFar } from "../../lib/local/distances.ts";
import { RegionBookies } from "../../lib/local/region-bookies.ts";
import { RegionSwitch } from "../../lib/local/region-switch.ts";
import { roundTrip } from "../../lib/local/round-trip.ts";
import { StoredBookie, setUpStorage } from "../../lib/protocol/bookie/stored-bookie.ts";
import type { Clock } from "../../lib/protocol/deadline.ts";
import { bookieId, entryId, ledgerId, region } from "../../lib/protocol/ids.ts";
import { ReadPolicy } from "../../lib/protocol/reads/read-policy.ts";
import { speculativeRead } from "../../lib/protocol/reads/speculative-read.ts";
import { CallAbort } from "../../lib/protocol/waiting.ts";
import { Scope } from "../contracts/scope.ts";
import { CPU_BOUND, EXHAUSTIVE } from "../cpu-bound.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { SeededRandom } from "../sim/seeded-random.ts";

const [here, there] = [region("us-west-2"), region("us-east-1")];
const entry = new Scope().entry(ledgerId(1), 0);

/** A bookie in each of two regions, both with the entry, as functions in `here` reach them. */
async function twoRegions(clock: Clock, delayMs: number) {
  const switches = [new RegionSwitch(here), new RegionSwitch(there)] as const;
  const bookies = await Promise.all(
    switches.map(async (where) => {
      const id = bookieId(`${where.region}.b~s`);
      const store = new MemoryEntryStore();
      await setUpStorage(store, "s");
      const bookie = new StoredBookie({ id, storage: "s", store, clock });
      await bookie.add(entry);
      return {
        address: { id, place: { region: where.region, rack: "a" } },
        bookie,
        region: where,
        power: new RegionSwitch(where.region, `bookie ${id}`),
      };
    }),
  );
  const from = new RegionSwitch(here);
  const reached = new RegionBookies({
    bookies,
    from,
    outgoing: from.call,
    clock,
    distances: equallyFar(delayMs),
  });
  const policy = new ReadPolicy({ clock, random: new SeededRandom(1, "policy"), place: { region: here } });
  const read = () =>
    speculativeRead(policy, {
      writeSet: bookies.map((one) => one.address),
      call: (address, signal) => reached.bookie(address.id).read(ledgerId(1), entryId(0), signal),
      judge: (answer) => ({ usable: true, value: answer }),
    });
  const callsHeld = () => [from, ...switches].reduce((sum, one) => sum + one.callsHeld, 0);
  return { near: switches[0], far: switches[1], read, reached, callsHeld, policy };
}

test("a round trip that is aborted ends at once, on the way there and on the way back", async () => {
  const clock = new TestClock();
  let calls = 0;
  const call = async () => {
    calls += 1;
  };
  const onTheWay = new CallAbort();
  const first = roundTrip(clock, 80, call, onTheWay).catch(() => "rejected");
  await clock.advance(20);
  onTheWay.abort();
  expect(await first).toBe("rejected");
  expect([calls, clock.pendingTimers]).toEqual([0, 0]);
  const onTheWayBack = new CallAbort();
  const second = roundTrip(clock, 80, call, onTheWayBack).catch(() => "rejected");
  await clock.advance(60);
  onTheWayBack.abort();
  expect(await second).toBe("rejected");
  expect([calls, clock.pendingTimers]).toEqual([1, 0]);
});

test("a call held by a hanging region is let go; others go on waiting", async () => {
  const where = new RegionSwitch(here);
  where.down("hanging");
  const [one, other] = [new CallAbort(), new CallAbort()];
  const calls = [one, other].map((signal) =>
    where.call("read", async () => 1, signal).catch((error) => String(error)),
  );
  expect(where.callsHeld).toBe(2);
  one.abort();
  expect(await calls[0]).toContain("nobody waits");
  expect(where.callsHeld).toBe(1);
  where.up();
  expect(await calls[1]).toContain("never answered");
  expect(where.callsHeld).toBe(0);
});

test("a call in flight when it is aborted is let go, and what it does later is dropped", async () => {
  const where = new RegionSwitch(here);
  const abort = new CallAbort();
  const call = where.call("read", () => new Promise(() => {}), abort).catch((error) => String(error));
  expect(where.callsHeld).toBe(1);
  abort.abort();
  expect(await call).toContain("nobody waits");
  expect(where.callsHeld).toBe(0);
  where.down("refusing");
});

test("a read whose own region hangs is answered from the next one and leaves nothing behind", async () => {
  const clock = new TestClock();
  const world = await twoRegions(clock, 60);
  world.near.down("hanging");
  const startedMs = clock.monotonicMs();
  const answer = await clock.run(world.read());
  expect(answer).toMatchObject({ kind: "answer", facts: { winner: "region us-east-1" } });
  // The default silence, and one round trip.
  expect(clock.monotonicMs() - startedMs).toBe(560);
  expect([clock.pendingTimers, world.callsHeld()]).toEqual([0, 0]);
});

test("23 10,000 reads against the host's own timers leave none behind", CPU_BOUND, () => leaveNoTimers(10));
test("23 100,000 reads against the host's own timers leave none behind", EXHAUSTIVE, () =>
  leaveNoTimers(100),
);

/** Batches of 1,000 reads. */
async function leaveNoTimers(batches: number): Promise<void> {
  const clock = new CountingClock();
  const world = await twoRegions(clock, 0);
  for (let batch = 0; batch < batches; batch++) {
    await Promise.all(Array.from({ length: 1_000 }, () => world.read()));
  }
  expect(world.policy.counters.answered).toBe(batches * 1_000);
  expect(clock.started).toBeGreaterThanOrEqual(batches * 1_000);
  expect([clock.pending, world.callsHeld()]).toEqual([0, 0]);
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBeLessThan(10);
}

/** The system's clock, counting what is left of its timers. */
class CountingClock extends SystemClock {
  started = 0;
  pending = 0;

  override startTimer(delayMs: number, fire: () => void) {
    this.started += 1;
    this.pending += 1;
    let isPending = true;
    const end = () => {
      if (isPending) this.pending -= 1;
      isPending = false;
    };
    const timer = super.startTimer(delayMs, () => {
      end();
      fire();
    });
    return {
      cancel: () => {
        end();
        timer.cancel();
      },
    };
  }
}
